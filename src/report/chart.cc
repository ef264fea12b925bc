#include "report/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "report/html.h"

namespace tritonsmith::report {
namespace {

constexpr double kWidth = 560, kHeight = 240;
constexpr double kLeft = 52, kRight = 22, kTop = 10, kBottom = 34;

struct Axis {
  double low = 0, high = 1;
  double share(double value) const { return (value - low) / (high - low); }
};

// 1, 2 or 5 times a power of ten: about `wanted` steps over the span.
double nice_step(double span, int wanted) {
  const double rough = span / wanted;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double lead = rough / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}

template <typename Get>
Axis span_of(const std::vector<Series>& series, Get get) {
  Axis axis{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const Series& each : series)
    for (const Point& point : each.points)
      if (std::isfinite(get(point))) {
        axis.low = std::min(axis.low, get(point));
        axis.high = std::max(axis.high, get(point));
      }
  if (axis.low > axis.high) return {0, 1};
  if (axis.low == axis.high) return {axis.low - 0.5, axis.high + 0.5};
  return axis;
}

Axis y_axis(const Chart& chart) {
  if (chart.unit_interval) return {0, 1};
  Axis axis = span_of(chart.series, [](const Point& p) { return p.y; });
  if (chart.from_zero && axis.low > 0) axis.low = 0;
  const double step = nice_step(axis.high - axis.low, 5);
  return {std::floor(axis.low / step) * step, std::ceil(axis.high / step) * step};
}

double place_x(const Axis& x, double value) {
  return kLeft + x.share(value) * (kWidth - kLeft - kRight);
}
double place_y(const Axis& y, double value) {
  return kTop + (1 - y.share(value)) * (kHeight - kTop - kBottom);
}

// From the first to the last, which rounding must not lose.
std::vector<double> ticks(double first, double last, double step) {
  std::vector<double> values;
  for (int i = 0; first + i * step <= last + step / 1000; ++i) values.push_back(first + i * step);
  return values;
}

std::string draw_axes(const Chart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  const double y_step = chart.unit_interval ? 0.25 : nice_step(y.high - y.low, 5);
  for (const double value : ticks(y.low, y.high, y_step)) {
    const double at = place_y(y, value);
    const std::string label = chart.unit_interval
                                  ? fmt::format("{:.0f}%", 100 * value)
                                  : fmt::format("{:.4g}", std::abs(value) < 1e-12 ? 0.0 : value);
    svg += fmt::format(
        R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
        kLeft, kWidth - kRight, at, at, kLeft - 6, at + 4, label);
  }
  const double x_step = std::max(nice_step(x.high - x.low, 6), 1e-9);
  for (const double value : ticks(std::ceil(x.low / x_step) * x_step, x.high, x_step))
    svg += fmt::format(
        R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="middle">{:.6g}</text>)",
        place_x(x, value), kHeight - kBottom + 16, value);
  svg += fmt::format(R"(<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>)",
                     kWidth - kRight, kHeight - 4, escape(chart.x_label));
  return svg;
}

std::string draw_series(const Series& series, std::size_t index, const Axis& x, const Axis& y) {
  std::string path;
  for (const Point& point : series.points)
    if (std::isfinite(point.y))
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", place_x(x, point.x),
                          place_y(y, point.y));
  return fmt::format(R"(<path class="s{}" d="{}"><title>{}</title></path>)", index % 6, path,
                     escape(series.name));
}

}  // namespace

std::string render_chart(const Chart& chart) {
  const bool empty =
      std::ranges::all_of(chart.series, [](const Series& s) { return s.points.empty(); });
  std::string html = fmt::format("<figure><figcaption>{}</figcaption>", escape(chart.title));
  if (empty) return html + "<p class=\"quiet\">nothing recorded yet</p></figure>\n";
  const Axis x = span_of(chart.series, [](const Point& p) { return p.x; });
  const Axis y = y_axis(chart);
  html += fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)", kWidth, kHeight,
                      escape(chart.title));
  html += draw_axes(chart, x, y);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    html += draw_series(chart.series[i], i, x, y);
  html += "</svg>";
  if (chart.series.size() > 1) {
    html += "<p class=\"legend\">";
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      html +=
          fmt::format(R"(<span><i class="k{}"></i>{}</span>)", i % 6, escape(chart.series[i].name));
    html += "</p>";
  }
  return html + "</figure>\n";
}

std::vector<Point> smoothed(const std::vector<Point>& points, std::size_t width) {
  if (width < 2) return points;
  std::vector<Point> result;
  result.reserve(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::size_t begin = i < width / 2 ? 0 : i - width / 2;
    const std::size_t end = std::min(points.size(), i + width / 2 + 1);
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += points[j].y;
    result.push_back({points[i].x, sum / static_cast<double>(end - begin)});
  }
  return result;
}

}  // namespace tritonsmith::report
