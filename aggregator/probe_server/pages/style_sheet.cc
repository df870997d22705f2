#include "aggregator/probe_server/pages/style_sheet.h"

namespace fieldcost::probe_server {

const std::string_view kStyleSheet = R"(:root {
  color-scheme: light dark;
  --back: #ffffff; --front: #1a1a1a; --faint: #595959; --line: #c4c4c4;
  --link: #0b57d0; --error: #b3261e; --done: #146c2e; --field: #f5f5f5;
  --shade: #0000004d;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #16181c; --front: #e8e8e8; --faint: #a8adb4; --line: #4a4f57;
    --link: #8ab4f8; --error: #f2b8b5; --done: #8fd6a0; --field: #22262c;
    --shade: #ffffff4d;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--front);
  font: 16px/1.45 system-ui, "DejaVu Sans", sans-serif; }
header { display: flex; flex-wrap: wrap; gap: .4rem 1.2rem; align-items: center;
  padding: .5rem 1rem; border-bottom: 1px solid var(--line); }
header .name { font-weight: 600; }
header nav { display: flex; gap: 1rem; flex: 1; }
header form { margin: 0; }
main { padding: 0 1rem 2rem; max-width: 80rem; margin: 0 auto; }
h1 { font-size: 1.4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin-top: 1.6rem; }
a { color: var(--link); }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible,
.scroll:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
.skip { position: absolute; left: -100rem; }
.skip:focus { left: 1rem; top: .3rem; background: var(--back); padding: .3rem; z-index: 1; }
.scroll { overflow-x: auto; background:
  linear-gradient(to right, var(--back) 50%, transparent) left / 2rem 100% no-repeat local,
  linear-gradient(to left, var(--back) 50%, transparent) right / 2rem 100% no-repeat local,
  linear-gradient(to right, var(--shade), transparent) left / .8rem 100% no-repeat scroll,
  linear-gradient(to left, var(--shade), transparent) right / .8rem 100% no-repeat scroll; }
table { border-collapse: collapse; width: 100%; }
caption { text-align: left; color: var(--faint); padding: .3rem 0;
  position: sticky; left: 0; max-width: calc(100vw - 2rem); }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem .3rem 0;
  border-bottom: 1px solid var(--line); }
td { overflow-wrap: break-word; max-width: 22rem; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
td.time { white-space: nowrap; }
td small { display: block; color: var(--faint); }
tr.aside td { color: var(--faint); font-style: italic; }
.slower { color: var(--error); }
.faster { color: var(--done); }
.error { color: var(--error); }
form.row { display: flex; flex-wrap: wrap; gap: .6rem 1rem; align-items: end; margin: .6rem 0; }
label { display: inline-block; }
form.column label { display: block; margin: .6rem 0; }
input, select, button { font: inherit; color: inherit; background: var(--field);
  border: 1px solid var(--faint); border-radius: 4px; padding: .3rem .5rem; max-width: 100%; }
input[type=checkbox] { width: 1.2rem; height: 1.2rem; }
form.row input[type=text] { width: 11rem; }
button { cursor: pointer; min-height: 2rem; }
p.bar { margin: .8rem 0 .1rem; overflow-wrap: anywhere; }
svg.chart { display: block; overflow: visible; }
svg.chart text { fill: var(--front); font: 13px system-ui, "DejaVu Sans", sans-serif;
  pointer-events: none; }
svg.chart text.on-light { fill: #111111; }
svg.chart text.on-dark { fill: #ffffff; }
svg.chart .middle { stroke: var(--link); fill: var(--link); }
svg.chart .spread { stroke: var(--faint); }
svg.chart a:focus-visible rect { stroke: var(--link); stroke-width: 3; }
.narrow { display: none; }
ul.legend { display: flex; flex-wrap: wrap; gap: .2rem 1rem; list-style: none; margin: .6rem 0; padding: 0; }
ul.legend li { overflow-wrap: anywhere; }
svg.swatch { width: 1rem; height: 1rem; vertical-align: -.1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .2rem 1rem; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) {
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; }
  .wide { display: none; }
  .narrow { display: inline; }
}
@media print {
  header, form, .skip, .screen { display: none; }
  .scroll { overflow: visible; background: none; }
  caption { max-width: none; }
  svg.chart { print-color-adjust: exact; }
  a { color: inherit; }
  table { font-size: 70%; }
  th, td { overflow-wrap: anywhere; padding: .1rem .3rem .1rem 0; }
  td.number, th.number, td.time { white-space: normal; }
}
)";

// Three segments of a bar.
const std::string_view kIcon = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">)"
                               R"(<rect width="6" height="16" fill="#274690"/>)"
                               R"(<rect x="6" width="7" height="16" fill="#c48a3a"/>)"
                               R"(<rect x="13" width="3" height="16" fill="#f0e442"/></svg>)";

}  // namespace fieldcost::probe_server
