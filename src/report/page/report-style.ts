import { createPageLook } from '../../platform/html.js';

export const reportLook = createPageLook(`
:root {
  --none: light-dark(#5f6b77, #9aa6b2);
  --no-result: light-dark(#3d6fb4, #7fa8e0);
  --not-submitted: light-dark(#7d8893, #737f8b);
  --failed: light-dark(#7c3f8c, #c792d8);
  --rest: light-dark(#dfe4e9, #333c46);
  --measure: light-dark(#3f566e, #a9bdd2);
  --preparing: light-dark(#7388a0, #6d84a0);
  --exporting: light-dark(#1f3a57, #d3e2f2);
}
body { max-width: 64rem; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 0.6rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 0.5rem; }
p { overflow-wrap: anywhere; }
p.warning { color: var(--ink); border-left: 0.25rem solid var(--soft); padding-left: 0.8rem; margin: 0.8rem 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(10.5rem, 1fr)); gap: 0.8rem; margin-top: 1.2rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.7rem 1rem; }
.card b { display: block; font-size: 1.35rem; font-variant-numeric: tabular-nums; font-weight: 650; }
.card span { color: var(--soft); font-size: 0.9rem; }
figure { margin: 0 0 1rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.8rem 1rem 0.4rem; }
figcaption { font-weight: 600; margin-bottom: 0.5rem; }
svg { display: block; width: 100%; }
svg.bar { height: 1.6rem; border-radius: 0.25rem; }
svg.small { height: 0.7rem; border-radius: 0.2rem; min-width: 5rem; }
svg.runs { height: 7.5rem; }
svg.life { height: 0.9rem; background: var(--line); border-radius: 0.2rem; }
.valid { fill: var(--valid); background: var(--valid); }
.wrong { fill: var(--wrong); background: var(--wrong); }
.unknown { fill: var(--unknown); background: var(--unknown); }
.none { fill: var(--none); background: var(--none); }
.no-result { fill: var(--no-result); background: var(--no-result); }
.not-submitted { fill: var(--not-submitted); background: var(--not-submitted); }
.failed { fill: var(--failed); background: var(--failed); }
.rest, .waiting { fill: var(--rest); background: var(--rest); }
.measure, .verifying { fill: var(--measure); background: var(--measure); }
.preparing { fill: var(--preparing); background: var(--preparing); }
.exporting { fill: var(--exporting); background: var(--exporting); }
.headline { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: 0.8rem; margin: 1rem 0; }
.headline .figure { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.8rem 1rem; }
.headline strong { display: block; font-size: 2.6rem; line-height: 1.1; font-weight: 700; font-variant-numeric: tabular-nums; }
.headline .figure > span, .headline small { display: block; overflow-wrap: anywhere; }
.headline .key { font-size: 0.85rem; }
.headline svg { margin: 0.5rem 0 0.3rem; }
.advice h2 { margin-top: 1rem; }
.advice ul { margin: 0; padding-left: 1.2rem; }
header code, .advice code { white-space: nowrap; }
.advice li { overflow-wrap: anywhere; margin: 0.2rem 0; }
ul.examples, p.examples { list-style: none; margin: 0.2rem 0 0; padding: 0; color: var(--soft); font-size: 0.85rem; }
.examples code { color: var(--ink); }
details { margin-top: 2.2rem; }
summary h2 { display: inline; }
summary h2 + small { margin-left: 0.5rem; }
.swatch { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 0.15em; margin-right: 0.5em; }
.key span { margin-right: 1.2em; white-space: nowrap; }
.card-table { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.3rem 0.4rem; overflow-x: auto; }
th, td { padding: 0.35rem 0.6rem; font-weight: 400; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { color: var(--soft); font-weight: 600; font-size: 0.85rem; }
td, .word { overflow-wrap: anywhere; }
.word { min-width: 7rem; }
.word code { overflow-wrap: break-word; }
td.chart { min-width: 6rem; width: 35%; vertical-align: middle; }
td.number { overflow-wrap: normal; }
/* The source of a cost is a sentence. */
.cost td { white-space: normal; width: 40%; }
small { font-size: 0.85rem; }
.meaning { display: block; }
.swatch ~ .meaning { margin-left: 1.3em; }
code { font-size: 0.9em; }
.timeline > div { display: grid; grid-template-columns: minmax(0, 22rem) minmax(0, 1fr) 5.5rem; gap: 0.8rem; align-items: center; padding: 0.2rem 0; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.name b { font-weight: 400; }
.took { text-align: right; white-space: nowrap; }
footer { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 0.6rem; }
@media (max-width: 40rem) {
  body { font-size: 0.95rem; padding: 1rem 0.7rem 2rem; }
  .cards { grid-template-columns: 1fr 1fr; }
  .headline { gap: 0.5rem; margin: 0.6rem 0; }
  .headline .figure { padding: 0.5rem 0.8rem; }
  .headline strong { font-size: 2rem; }
  .timeline > div { grid-template-columns: minmax(0, 1fr) auto; gap: 0.1rem 0.6rem; padding: 0.35rem 0; }
  .timeline svg { grid-column: 1 / -1; grid-row: 2; }
  .word { min-width: 3rem; }
  td.chart, th.chart { display: none; }
  table { font-size: 0.85rem; }
  thead th { font-size: 0.8rem; }
  th, td { padding: 0.35rem 0.3rem; }
}
@media (max-width: 22rem) {
  th, td { padding: 0.35rem 0.15rem; }
}
@media print {
  :root { color-scheme: light; --back: #ffffff; }
  * { print-color-adjust: exact; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  figure, .card, tr, .timeline > div { break-inside: avoid; }
  h2 { break-after: avoid; }
}
`);
