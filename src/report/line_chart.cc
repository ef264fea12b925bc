#include "report/line_chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "report/html.h"

namespace tritonsmith::report {
namespace {

constexpr double kWidth = 560, kHeight = 240;
constexpr double kLeft = 52, kRight = 22, kTop = 10, kBottom = 34;

struct Axis {
  double low = 0, high = 1;
  double share(double value) const { return (value - low) / (high - low); }
};

// Returns 1, 2 or 5 times a power of ten, so that the span has about `wanted` steps.
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

double scale_x(const Axis& x, double value) {
  return kLeft + x.share(value) * (kWidth - kLeft - kRight);
}
double scale_y(const Axis& y, double value) {
  return kTop + (1 - y.share(value)) * (kHeight - kTop - kBottom);
}

// Returns all ticks. Rounding must not lose the last one.
std::vector<double> ticks(double first, double last, double step) {
  std::vector<double> values;
  for (int i = 0; first + i * step <= last + step / 1000; ++i) values.push_back(first + i * step);
  return values;
}

std::string draw_axes(const Chart& chart, const Axis& x, const Axis& y) {
  std::string svg;
  const double y_step = chart.unit_interval ? 0.25 : nice_step(y.high - y.low, 5);
  for (const double value : ticks(y.low, y.high, y_step)) {
    const double at = scale_y(y, value);
    const std::string label = chart.unit_interval
                                  ? fmt::format("{:.0f}%", 100 * value)
                                  : fmt::format("{:.6g}", std::abs(value) < 1e-12 ? 0.0 : value);
    svg += fmt::format(
        R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/><text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
        kLeft, kWidth - kRight, at, at, kLeft - 6, at + 4, label);
  }
  const double x_step = std::max(nice_step(x.high - x.low, 6), 1e-9);
  for (const double value : ticks(std::ceil(x.low / x_step) * x_step, x.high, x_step))
    svg += fmt::format(
        R"(<text class="tick" x="{:.1f}" y="{:.1f}" text-anchor="middle">{:.6g}</text>)",
        scale_x(x, value), kHeight - kBottom + 16, value);
  svg += fmt::format(R"(<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>)",
                     kWidth - kRight, kHeight - 4, escape(chart.x_label));
  return svg;
}

std::string path_of(const std::vector<Point>& points, const Axis& x, const Axis& y) {
  std::string path;
  for (const Point& point : points)
    if (std::isfinite(point.y))
      path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", scale_x(x, point.x),
                          scale_y(y, std::clamp(point.y, y.low, y.high)));
  return path;
}

std::string draw_series(const Series& series, std::size_t index, const Axis& x, const Axis& y) {
  std::string svg;
  if (!series.raw.empty())
    svg = fmt::format(R"(<path class="raw s{}" d="{}"/>)", index % 6, path_of(series.raw, x, y));
  return svg + fmt::format(R"(<path class="s{}" d="{}"><title>{}</title></path>)", index % 6,
                           path_of(series.points, x, y), escape(series.name));
}

// Rounds to four digits, because more would only make the page longer.
Json short_number(double value) {
  if (!std::isfinite(value)) return nullptr;
  return std::stod(fmt::format("{:.4g}", value));
}

// Returns the numbers for the page's script (assets.cc).
Json numbers_of(const Chart& chart, const Axis& x) {
  std::set<double> steps;
  for (const Series& series : chart.series)
    for (const Point& point : series.points) steps.insert(point.x);
  Json all = Json::array();
  for (const Series& series : chart.series) {
    Json values = Json::array();
    auto point = series.points.begin();
    for (const double step : steps) {
      const bool has_it = point != series.points.end() && point->x == step;
      values.push_back(has_it ? short_number(point->y) : Json(nullptr));
      if (has_it) ++point;
    }
    all.push_back({{"name", series.name}, {"y", std::move(values)}});
  }
  return {{"x", steps},
          {"series", std::move(all)},
          {"low", x.low},
          {"high", x.high},
          {"width", kWidth},
          {"left", kLeft},
          {"label", chart.x_label},
          {"right", kWidth - kRight},
          {"percent", chart.unit_interval}};
}

}  // namespace

std::string render_line_chart(const Chart& chart) {
  const bool empty =
      std::ranges::all_of(chart.series, [](const Series& s) { return s.points.empty(); });
  const std::string caption = fmt::format("<figcaption>{}</figcaption>", escape(chart.title));
  if (empty)
    return fmt::format("<figure>{}<p class=\"quiet\">nothing recorded yet</p></figure>\n", caption);
  const Axis x = span_of(chart.series, [](const Point& p) { return p.x; });
  const Axis y = y_axis(chart);
  std::string html =
      fmt::format("<figure data-chart=\"{}\">{}", escape(to_line(numbers_of(chart, x))), caption);
  html += fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}">)", kWidth, kHeight,
                      escape(chart.title));
  html += draw_axes(chart, x, y);
  for (std::size_t i = 0; i < chart.series.size(); ++i)
    html += draw_series(chart.series[i], i, x, y);
  html += fmt::format(R"(<line class="cursor" x1="0" x2="0" y1="{}" y2="{}"/></svg>)", kTop,
                      kHeight - kBottom);
  if (chart.series.size() > 1) {
    html += "<p class=\"legend\">";
    for (std::size_t i = 0; i < chart.series.size(); ++i)
      html +=
          fmt::format(R"(<span><i class="k{}"></i>{}</span>)", i % 6, escape(chart.series[i].name));
    html += "</p>";
  }
  return html + "</figure>\n";
}

std::vector<Point> thinned(const std::vector<Point>& points, std::size_t count) {
  if (points.size() <= count || count == 0) return points;
  std::vector<Point> result;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t begin = i * points.size() / count, end = (i + 1) * points.size() / count;
    double sum = 0;
    for (std::size_t j = begin; j < end; ++j) sum += points[j].y;
    result.push_back({points[(begin + end - 1) / 2].x, sum / static_cast<double>(end - begin)});
  }
  return result;
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
