#include "curate/funnel.h"

#include <fmt/format.h>

#include <algorithm>

namespace tritonsmith::curate {
namespace {

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else
      safe += c;
  }
  return safe;
}

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

}  // namespace

std::string funnel_table(const Funnel& funnel, double cost) {
  std::string text = "| step | answers | tasks | share of the answers | tokens |";
  std::string line = "|---|---:|---:|---:|---:|";
  const FunnelStep first = funnel.empty() ? FunnelStep{} : funnel.front();
  if (cost > 0) {
    text += " cost of a kept answer |";
    line += "---:|";
  }
  text += "\n" + line + "\n";
  for (const FunnelStep& each : funnel) {
    const auto answers = static_cast<double>(each.answers);
    text += fmt::format("| {} | {} | {} | {:.1f} % | {} |", each.name, each.answers, each.tasks,
                        100 * share(answers, static_cast<double>(first.answers)), each.tokens);
    // All that was paid for, shared among what is left.
    if (cost > 0) text += fmt::format(" {:.4f} |", share(cost, answers));
    text += "\n";
  }
  return text;
}

std::string funnel_picture(const Funnel& funnel) {
  constexpr int kRow = 34, kBar = 22, kNames = 190, kWidth = 520, kNumbers = 170;
  const int height = kRow * static_cast<int>(funnel.size()) + 16;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" "
      "font-size=\"13\">\n",
      kNames + kWidth + kNumbers, height);
  std::size_t most = 1;
  for (const FunnelStep& each : funnel) most = std::max(most, each.answers);
  for (std::size_t i = 0; i < funnel.size(); ++i) {
    const FunnelStep& step = funnel[i];
    const int y = 8 + kRow * static_cast<int>(i);
    const double width =
        kWidth * share(static_cast<double>(step.answers), static_cast<double>(most));
    const double left = kNames + (kWidth - width) / 2;
    svg += fmt::format(
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>\n"
        "<rect x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"{}\" fill=\"#4477aa\"/>\n"
        "<text x=\"{}\" y=\"{}\">{} answers, {} tasks</text>\n",
        kNames - 10, y + 16, escaped(step.name), left, y, std::max(width, 1.0), kBar,
        kNames + kWidth + 10, y + 16, step.answers, step.tasks);
  }
  return svg + "</svg>\n";
}

}  // namespace tritonsmith::curate
