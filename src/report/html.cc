#include "report/html.h"

#include <fmt/format.h>

#include "base/printable.h"
#include "report/assets.h"

namespace tritonsmith::report {

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string render_table(const std::vector<std::vector<std::string>>& rows) {
  // With two rows, sorting is of no use.
  std::string html =
      fmt::format("<div class=\"wide\"><table{}>\n", rows.size() > 2 ? " class=\"sorts\"" : "");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const char* tag = i == 0 ? "th" : "td";
    html += "<tr>";
    for (const std::string& cell : rows[i])
      html += fmt::format("<{0}>{1}</{0}>", tag, escape(cell));
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string folded(std::string_view summary, const std::string& html) {
  return fmt::format("<details><summary>{}</summary><div>\n{}</div></details>\n", escape(summary),
                     html);
}

std::string render_page(std::string_view title, std::string_view head,
                        const std::vector<Section>& sections) {
  std::string contents, body;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const std::string name = escape(sections[i].title);
    contents += fmt::format("<li><a href=\"#part-{}\">{}</a></li>\n", i + 1, name);
    body += fmt::format("<section id=\"part-{}\"><h2>{}</h2>\n{}</section>\n", i + 1, name,
                        sections[i].html);
  }
  if (sections.size() > 1) contents = fmt::format("<nav><ol>\n{}</ol></nav>\n", contents);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}</style></head>\n<body>\n<h1>{0}</h1>\n{2}{3}{4}"
      "<script>{5}</script></body></html>\n",
      escape(title), kStyle, head, sections.size() > 1 ? contents : "", body, kScript);
}

}  // namespace tritonsmith::report
