#include "report/assets.h"

namespace tritonsmith::report {

const std::string_view kStyle = R"css(
:root { --ink: #1c2430; --quiet: #667085; --paper: #ffffff; --rule: #e4e7ec; --shade: #f7f8fa;
  --c0: #2f6fde; --c1: #d9622b; --c2: #2a9d62; --c3: #8e4ec6; --c4: #b8860b; --c5: #c2255c;
  --key: #8e24aa; --str: #1b7f4b; --num: #b8560b; --com: #7a8494; --fun: #1d5fc9; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --quiet: #98a2b3; --paper: #12161d;
  --rule: #2b3340; --shade: #1a2029; --c0: #6ea0ff; --c1: #ff9561; --c2: #5fd39a; --c3: #c79bff;
  --c4: #e5b94e; --c5: #ff7aa8; --key: #d8a6ff; --str: #7fd8a6; --num: #ffb27a; --com: #8b96a8;
  --fun: #8fb8ff; } }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0 auto; max-width: 92rem; padding: 2.5rem 1.5rem 5rem; background: var(--paper);
  color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .3rem; } h2 { font-size: 1.2rem; margin: 2.6rem 0 .8rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .6rem; }
a { color: var(--c0); } .quiet { color: var(--quiet); } p { max-width: 46rem; }
nav ol { columns: 16rem; margin: .6rem 0 0; padding-left: 1.4rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; margin: .8rem 0; }
.wide { overflow-x: auto; } th, td { padding: .38rem .7rem; white-space: nowrap; text-align: right; border-bottom: 1px solid var(--rule); }
th { color: var(--quiet); font-weight: 600; } th:first-child, td:first-child { text-align: left; padding-left: 0; }
.sorts th { cursor: pointer; } .sorts th:hover, .sorts th:focus { color: var(--ink); }
th[aria-sort=ascending]::after { content: " \2191"; } th[aria-sort=descending]::after { content: " \2193"; }
.bars { display: grid; grid-template-columns: max-content minmax(4rem, 26rem) max-content; gap: .35rem .8rem; align-items: center; }
.bars b { background: var(--shade); height: 1.1rem; border-radius: .2rem; position: relative; overflow: hidden; }
.bars i { position: absolute; inset: 0 auto 0 0; background: var(--c0); min-width: 2px; }
.bars i.correct { background: var(--c0); opacity: .35; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 1.6rem; }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(30rem, 100%), 1fr)); gap: 0 1.6rem; }
.beside > div { min-width: 0; } h4 { font-size: .9rem; margin: .8rem 0 0; color: var(--quiet); } .beside pre { margin-top: .4rem; }
figure { margin: 0; position: relative; max-width: 46rem; } figcaption { font-weight: 600; margin-bottom: .3rem; }
svg { width: 100%; height: auto; } .grid { stroke: var(--rule); } .tick { fill: var(--quiet); font-size: 11px; }
path { fill: none; stroke-width: 2; stroke-linejoin: round; } path.raw { stroke-width: 1; opacity: .3; }
.s0 { stroke: var(--c0); } .s1 { stroke: var(--c1); } .s2 { stroke: var(--c2); }
.s3 { stroke: var(--c3); } .s4 { stroke: var(--c4); } .s5 { stroke: var(--c5); }
.cursor { stroke: var(--quiet); stroke-dasharray: 3 3; visibility: hidden; }
.values { position: absolute; pointer-events: none; background: var(--paper); border: 1px solid var(--rule); border-radius: .3rem;
  padding: .3rem .55rem; font-size: .8rem; white-space: nowrap; box-shadow: 0 2px 8px #0003; z-index: 1; }
.values b { font-weight: 600; } .values i { display: inline-block; width: .7rem; height: .2rem; margin-right: .4rem; vertical-align: middle; }
.legend { margin: .2rem 0 0; font-size: .85rem; color: var(--quiet); } .legend span { margin-right: 1.1rem; white-space: nowrap; }
.legend i { display: inline-block; width: .9rem; height: .2rem; margin-right: .4rem; vertical-align: middle; }
.k0 { background: var(--c0); } .k1 { background: var(--c1); } .k2 { background: var(--c2); }
.k3 { background: var(--c3); } .k4 { background: var(--c4); } .k5 { background: var(--c5); }
details { border: 1px solid var(--rule); border-radius: .4rem; margin: .6rem 0; }
summary { cursor: pointer; padding: .55rem .9rem; } details > div { padding: 0 .9rem .8rem; }
details details { margin: .5rem 0; }
.badge { border-radius: .8rem; padding: .05rem .6rem; font-size: .82rem; font-weight: 600; border: 1px solid currentColor; margin-left: .4rem; }
.good { color: var(--c2); } .half { color: var(--c4); } .bad { color: var(--c1); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .6rem 0; } dt { color: var(--quiet); } dd { margin: 0; }
pre { background: var(--shade); padding: .8rem; overflow-x: auto; border-radius: .3rem;
  font: 13px/1.45 ui-monospace, monospace; white-space: pre; }
pre.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.key { color: var(--key); } .str { color: var(--str); } .num { color: var(--num); } .com { color: var(--com); font-style: italic; }
.fun { color: var(--fun); } .at { color: var(--num); } .here { background: #d9622b33; display: inline-block; min-width: 100%; }
)css";

// Charts hold their numbers as JSON: {"x": [...], "series": [{"name", "y": [...]}], the ranges}.
const std::string_view kScript = R"js(
(() => {
  const number = text => {
    const found = text.replace(/,/g, '').match(/^[^\d+-]*([+-]?\d+(\.\d+)?(e[+-]?\d+)?)/i);
    return found ? parseFloat(found[1]) : NaN;
  };
  const sortBy = (head, table) => {
    const column = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute('aria-sort') !== 'descending';
    for (const each of head.parentNode.children) each.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const rows = [...table.rows].slice(1), value = row => row.cells[column].textContent;
    const numeric = rows.every(row => value(row) === '' || value(row) === '-' || !isNaN(number(value(row))));
    rows.sort((a, b) => {
      const order = numeric ? (number(value(a)) || 0) - (number(value(b)) || 0) : value(a).localeCompare(value(b));
      return down ? -order : order;
    });
    for (const row of rows) row.parentNode.appendChild(row);
  };
  for (const table of document.querySelectorAll('table.sorts'))
    for (const head of table.rows[0].cells) {
      head.tabIndex = 0;
      head.addEventListener('click', () => sortBy(head, table));
      head.addEventListener('keydown', event => { if (event.key === 'Enter') sortBy(head, table); });
    }
  for (const figure of document.querySelectorAll('figure[data-chart]')) {
    const chart = JSON.parse(figure.dataset.chart), svg = figure.querySelector('svg');
    const cursor = svg.querySelector('.cursor');
    let box = null;
    const hide = () => { cursor.style.visibility = 'hidden'; if (box) box.remove(); box = null; };
    svg.addEventListener('mouseleave', hide);
    svg.addEventListener('mousemove', event => {
      const frame = svg.getBoundingClientRect(), scale = chart.width / frame.width;
      const share = ((event.clientX - frame.left) * scale - chart.left) / (chart.right - chart.left);
      const wanted = chart.low + share * (chart.high - chart.low);
      let best = 0;
      chart.x.forEach((x, i) => { if (Math.abs(x - wanted) < Math.abs(chart.x[best] - wanted)) best = i; });
      const at = chart.left + (chart.x[best] - chart.low) / (chart.high - chart.low) * (chart.right - chart.left);
      cursor.setAttribute('x1', at); cursor.setAttribute('x2', at); cursor.style.visibility = 'visible';
      if (!box) { box = document.createElement('div'); box.className = 'values'; figure.appendChild(box); }
      box.textContent = '';
      const line = (text, mark) => {
        const row = document.createElement('div');
        if (mark) { const key = document.createElement('i'); key.className = mark; row.appendChild(key); }
        row.appendChild(document.createTextNode(text)); box.appendChild(row);
      };
      line(chart.label + ' ' + chart.x[best]);
      chart.series.forEach((series, i) => {
        const y = series.y[best];
        if (y !== null && y !== undefined)
          line(series.name + ': ' + (chart.percent ? (100 * y).toFixed(1) + ' %' : Number(y.toPrecision(4))), 'k' + i % 6);
      });
      const left = at / scale + 12, wide = box.offsetWidth;
      box.style.left = (left + wide > frame.width ? at / scale - wide - 12 : left) + 'px';
      box.style.top = frame.top - figure.getBoundingClientRect().top + 8 + 'px';
    });
  }
})();
)js";

}  // namespace tritonsmith::report
