// Draws line charts as inline SVG, from points alone, without scripts or other files. Colours come
// from the page's style sheet, so that they follow a dark or a light theme.
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
  std::vector<Series> series;  // up to six series have distinct colours
  bool from_zero = true;       // the y axis begins at 0 if all values are positive
  bool unit_interval = false;  // the y axis goes from 0 to 1 and has labels in percent
};

// Returns a figure element with title and legend. An empty chart says that it has no data yet.
std::string render_line_chart(const Chart& chart);

// At most `count` points: means of as many neighbours as it takes.
std::vector<Point> thinned(const std::vector<Point>& points, std::size_t count);

// Centred moving average over `width` points, to show a noisy curve's trend. Ends use what is
// there.
std::vector<Point> smoothed(const std::vector<Point>& points, std::size_t width);

}  // namespace tritonsmith::report
