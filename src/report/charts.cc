#include "report/charts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "report/html.h"
#include "report/line_chart.h"

namespace tritonsmith::report {
namespace {

constexpr std::string_view kWeight = "reward_weight/";
constexpr std::size_t kMostPoints = 400;  // in a curve
constexpr std::size_t kMostCurves = 6;    // in a chart; more curves would need to share colours

using Names = std::vector<std::pair<std::string, std::string>>;  // recorded name, name in legend

// One chart of the report: metrics that belong together, by the names that training records
// (docs/records.md).
struct ChartOfMetrics {
  std::string group, title;
  Names metrics;
  bool unit_interval = false;
};

// A new chart is a new row. Metrics without a row are charted by the part of their name before the
// slash.
const std::vector<ChartOfMetrics>& known_charts() {
  static const std::vector<ChartOfMetrics> all = {
      {"Reward", "Mean reward", {{"reward/mean", "mean reward"}}},
      {"Reward", "Spread of the reward", {{"reward/std", "standard deviation"}}},
      {"Samples",
       "How far samples come",
       {{"stage/parsed", "parsed"},
        {"stage/captured", "captured"},
        {"stage/compiled", "compiled"},
        {"stage/correct", "correct"},
        {"stage/accepted", "accepted"}},
       true},
      {"Samples",
       "Samples that a finding refuses",
       {{"hacks/found", "found"}, {"hacks/rewarded", "rewarded all the same"}},
       true},
      {"Samples", "Length of completions", {{"completion/tokens", "tokens"}}},
      {"Samples", "Cut completions", {{"completion/truncated", "cut at max_new_tokens"}}, true},
      {"Samples",
       "Groups without variance",
       {{"groups/without_variance", "groups that teach nothing"}},
       true},
      {"Learning",
       "Loss",
       {{"loss", "loss"}, {"heldout/loss", "held-out loss"}, {"policy_loss", "policy loss"}}},
      {"Learning", "Entropy", {{"entropy", "entropy"}}},
      {"Learning", "Gradient norm", {{"grad_norm", "gradient norm"}}},
      {"Learning", "Learning rate", {{"learning_rate", "learning rate"}}},
      {"Sampler against trainer",
       "Log-probabilities of the same tokens",
       {{"logprob_difference/mean", "mean |difference|"},
        {"logprob_difference/p50", "median"},
        {"logprob_difference/p95", "95 % are below"},
        {"logprob_difference/p99", "99 % are below"},
        {"logprob_difference/max", "largest |difference|"}}},
      {"Time",
       "Tokens a second",
       {{"tokens_per_second", "trained"}, {"generated_tokens_per_second", "generated"}}},
  };
  return all;
}

std::string group_of(std::string_view metric) {
  const std::string_view prefix = metric.substr(0, metric.find('/'));
  if (prefix == "reward" || metric.starts_with(kWeight)) return "Reward";
  if (prefix == "seconds") return "Time";
  if (prefix == "logprob_difference") return "Sampler against trainer";
  for (const std::string_view known :
       {"stage", "hacks", "groups", "samples", "completion", "rollout"})
    if (prefix == known) return "Samples";
  if (prefix.starts_with("turn_")) return "Turns";
  return "Learning";
}

std::string title_of(std::string_view prefix) {
  if (prefix == "reward") return "Terms of the reward, before their weights";
  if (prefix == "reward_weight") return "What each term pays";
  if (prefix == "seconds") return "Seconds of a step";
  return std::string(prefix);
}

bool is_zero(const std::vector<Point>& points) {
  return std::ranges::all_of(points, [](const Point& point) { return point.y == 0; });
}

Series series_of(const std::string& name, const std::vector<Point>& points) {
  const std::size_t width = points.size() / 40;
  Series series{.name = name, .points = thinned(smoothed(points, width), kMostPoints), .raw = {}};
  if (width > 1) series.raw = thinned(points, kMostPoints);
  return series;
}

// The charts of one run by group, and the metrics that they have shown.
class Charts {
 public:
  explicit Charts(const RunRecords& run) : run_(run) {}

  void add(const ChartOfMetrics& wanted) {
    Chart chart{.title = wanted.title, .x_label = "step", .unit_interval = wanted.unit_interval};
    for (const auto& [metric, legend] : wanted.metrics) {
      const auto at = run_.metrics.find(metric);
      if (at == run_.metrics.end() || at->second.size() < 2) continue;
      shown_.insert(metric);
      if (is_zero(at->second))
        zero_.push_back(metric);
      else
        chart.series.push_back(series_of(legend, at->second));
    }
    if (wanted.title == "Mean reward")
      if (const auto kept = reward_at_first_weights(run_); kept.size() > 1)
        chart.series.push_back(series_of("had each term kept its first weight", kept));
    if (!chart.series.empty()) groups_[wanted.group] += render_line_chart(chart);
  }

  // Adds the numbers that no chart has yet, grouped by the part of the name before the slash.
  void add_the_rest() {
    std::map<std::string, Names> left;
    for (const auto& [metric, points] : run_.metrics) {
      if (shown_.contains(metric)) continue;
      const std::size_t slash = metric.find('/');
      const bool is_alone = slash == std::string::npos;
      left[metric.substr(0, slash)].emplace_back(metric,
                                                 is_alone ? metric : metric.substr(slash + 1));
    }
    for (const auto& [prefix, names] : left)
      for (std::size_t first = 0; first < names.size(); first += kMostCurves) {
        const std::size_t last = std::min(first + kMostCurves, names.size());
        add({.group = group_of(names[first].first),
             .title = names.size() == 1 ? names[0].first : title_of(prefix),
             .metrics = {names.begin() + static_cast<std::ptrdiff_t>(first),
                         names.begin() + static_cast<std::ptrdiff_t>(last)}});
      }
  }

  std::string html() const {
    std::string html;
    for (const char* group :
         {"Reward", "Samples", "Turns", "Learning", "Sampler against trainer", "Time"})
      if (const auto at = groups_.find(group); at != groups_.end())
        html += fmt::format("<h3>{}</h3>\n<div class=\"charts\">\n{}</div>\n", group, at->second);
    if (!zero_.empty() && !html.empty())
      html += fmt::format("<p class=\"quiet\">Always 0: {}.</p>\n",
                          escape(fmt::format("{}", fmt::join(zero_, ", "))));
    return html;
  }

 private:
  const RunRecords& run_;
  std::set<std::string> shown_;
  std::vector<std::string> zero_;
  std::map<std::string, std::string> groups_;
};

// Returns the terms whose weight was ever lower than at the first step, with the weight's curve.
std::map<std::string, const std::vector<Point>*> lowered_weights(const RunRecords& run) {
  std::map<std::string, const std::vector<Point>*> lowered;
  for (const auto& [metric, points] : run.metrics)
    if (metric.starts_with(kWeight) && !points.empty() &&
        std::ranges::any_of(points, [&](const Point& p) { return p.y < 0.999 * points[0].y; }))
      lowered[metric.substr(kWeight.size())] = &points;
  return lowered;
}

double value_at(const std::vector<Point>& points, double x) {
  const auto at = std::ranges::find(points, x, &Point::x);
  return at == points.end() ? 0 : at->y;
}

}  // namespace

std::vector<Point> reward_at_first_weights(const RunRecords& run) {
  const auto lowered = lowered_weights(run);
  const auto mean = run.metrics.find("reward/mean");
  if (lowered.empty() || mean == run.metrics.end()) return {};
  std::vector<Point> kept = mean->second;
  for (const auto& [name, weights] : lowered) {
    const auto values = run.metrics.find("reward/" + name);
    if (values == run.metrics.end()) continue;
    for (Point& point : kept)
      point.y +=
          value_at(values->second, point.x) * (weights->front().y - value_at(*weights, point.x));
  }
  return kept;
}

std::vector<std::string> saturated_stages(const RunRecords& run) {
  std::vector<std::string> sentences;
  for (const auto& [name, weights] : lowered_weights(run)) {
    const double first = weights->front().y;
    const auto less = std::ranges::find_if(*weights, [&](auto& p) { return p.y < 0.999 * first; });
    const auto none = std::ranges::find_if(*weights, [](auto& p) { return p.y <= 1e-9; });
    const auto values = run.metrics.find("reward/" + name);
    const double rate =
        values == run.metrics.end() ? std::nan("") : value_at(values->second, less->x);
    std::string sentence = fmt::format("The term {} pays less from step {:.0f} on", name, less->x);
    if (none != weights->end()) sentence += fmt::format(" and nothing at step {:.0f}", none->x);
    if (std::isfinite(rate))
      sentence += fmt::format(", since nearly every sample earns it (mean {:.2f} there)", rate);
    sentences.push_back(sentence + fmt::format(". So the mean reward falls by up to {:.2f}, though "
                                               "the samples are no worse.",
                                               first));
  }
  return sentences;
}

std::string render_charts(const RunRecords& run) {
  Charts charts(run);
  for (const ChartOfMetrics& wanted : known_charts()) charts.add(wanted);
  charts.add_the_rest();
  std::string why;
  for (const std::string& sentence : saturated_stages(run))
    why += fmt::format("<p>{}</p>\n", escape(sentence));
  const std::string html = charts.html();
  return html.empty() ? "" : why + html;
}

}  // namespace tritonsmith::report
