#include "report/html.h"

#include <fmt/format.h>

namespace tritonsmith::report {
namespace {

constexpr std::string_view kStyle = R"css(
:root { --ink: #1c2430; --quiet: #667085; --paper: #ffffff; --rule: #e4e7ec; --shade: #f7f8fa;
  --c0: #2f6fde; --c1: #d9622b; --c2: #2a9d62; --c3: #8e4ec6; --c4: #b8860b; --c5: #c2255c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --quiet: #98a2b3; --paper: #12161d;
  --rule: #2b3340; --shade: #1a2029; --c0: #6ea0ff; --c1: #ff9561; --c2: #5fd39a; --c3: #c79bff;
  --c4: #e5b94e; --c5: #ff7aa8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 92rem; padding: 2.5rem 1.5rem 5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; }
.quiet { color: var(--quiet); } p { max-width: 46rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .8rem 0; }
.wide { overflow-x: auto; } th, td { padding: .38rem .7rem; white-space: nowrap; text-align: right; border-bottom: 1px solid var(--rule); }
th { color: var(--quiet); font-weight: 600; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
.bars { display: grid; grid-template-columns: max-content minmax(4rem, 26rem) max-content; gap: .35rem .8rem; align-items: center; }
.bars b { background: var(--shade); height: 1.1rem; border-radius: .2rem; } .bars i { display: block; height: 100%;
  background: var(--c0); border-radius: .2rem; min-width: 2px; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1.6rem; }
figure { margin: 0; } figcaption { font-weight: 600; margin-bottom: .3rem; }
svg { width: 100%; height: auto; } .grid { stroke: var(--rule); } .tick { fill: var(--quiet); font-size: 11px; }
path { fill: none; stroke-width: 2; stroke-linejoin: round; }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); }
.s3 { stroke: var(--c3); } .s4 { stroke: var(--c4); } .s5 { stroke: var(--c5); }
.legend { margin: .2rem 0 0; font-size: .85rem; color: var(--quiet); } .legend span { margin-right: 1.1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .9rem; height: .2rem; margin-right: .4rem; vertical-align: middle; }
.k0 { background: var(--c0); } .k1 { background: var(--c1); } .k2 { background: var(--c2); }
.k3 { background: var(--c3); } .k4 { background: var(--c4); } .k5 { background: var(--c5); }
details { border: 1px solid var(--rule); border-radius: .4rem; margin: .6rem 0; }
summary { cursor: pointer; padding: .55rem .9rem; } details > div { padding: 0 .9rem .8rem; }
.good { color: var(--c2); font-weight: 600; } .bad { color: var(--c1); font-weight: 600; }
pre { background: var(--shade); padding: .8rem; overflow-x: auto; border-radius: .3rem;
  font: 13px/1.45 ui-monospace, monospace; }
)css";

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
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
  std::string html = "<div class=\"wide\"><table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const char* tag = i == 0 ? "th" : "td";
    html += "<tr>";
    for (const std::string& cell : rows[i])
      html += fmt::format("<{0}>{1}</{0}>", tag, escape(cell));
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string render_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}</style></head>\n<body>\n{2}</body></html>\n",
      escape(title), kStyle, body);
}

}  // namespace tritonsmith::report
