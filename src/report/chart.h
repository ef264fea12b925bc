// Line charts as inline SVG, drawn from points alone, without an outside file. Colours come from
// the page's style sheet, so that they follow a dark or a light theme. A chart also carries its
// numbers as JSON, from which the page's script shows the values under the pointer.
#pragma once

#include <string>
#include <vector>

#include "report/records.h"

namespace tritonsmith::report {

struct Series {
  std::string name;
  std::vector<Point> points;  // by rising x
  std::vector<Point> raw;     // drawn faintly behind them: what they are a mean of; may be empty
};

struct Chart {
  std::string title;
  std::string x_label;
  std::vector<Series> series;  // up to six keep distinct colours
  bool from_zero = true;       // the y axis begins at 0 where all values are positive
  bool unit_interval = false;  // the y axis is 0 to 1, labelled as percentages
};

// A figure element with title and legend; empty charts say that there is nothing to draw yet.
std::string render_chart(const Chart& chart);

// At most `count` points: means of as many neighbours as it takes.
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t count);

// Centred moving average over `width` points, to show a noisy curve's trend. Ends use what is
// there.
std::vector<Point> smoothed(const std::vector<Point>& points, std::size_t width);

}  // namespace tritonsmith::report
