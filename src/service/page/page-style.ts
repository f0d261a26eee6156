import { createHash } from 'node:crypto';
import type { Html } from './html.js';

const pageStyle = `
:root {
  color-scheme: light dark;
  --ink: light-dark(#1a2129, #e6eaee);
  --soft: light-dark(#57626e, #9aa6b2);
  --line: light-dark(#d8dee4, #333c46);
  --back: light-dark(#f5f7f9, #14191e);
  --card: light-dark(#ffffff, #1c2329);
  --good: light-dark(#17663a, #6fd39a);
  --busy: light-dark(#7a4b00, #f0b95a);
  --bad: light-dark(#9c1c1c, #ff9a94);
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 72rem;
  background: var(--back); color: var(--ink); font: 0.95rem/1.5 system-ui, sans-serif;
}
h1 { font-size: 1.4rem; margin: 0; }
h2 { font-size: 1.05rem; margin: 2rem 0 0.6rem; }
p { margin: 0.2rem 0; color: var(--soft); }
.accounts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.8rem; }
.account { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.8rem 1rem; }
.account h3 { font-size: 0.95rem; margin: 0 0 0.4rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.1rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
table { width: 100%; border-collapse: collapse; background: var(--card); border: 1px solid var(--line); }
th, td { padding: 0.45rem 0.7rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 600; font-size: 0.85rem; }
td { overflow-wrap: anywhere; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.nowrap { white-space: nowrap; }
small { color: var(--soft); font-size: 0.8rem; }
.status { font-weight: 600; white-space: nowrap; }
.good { color: var(--good); }
.busy { color: var(--busy); }
.bad { color: var(--bad); }
progress { width: 100%; min-width: 6rem; height: 0.6rem; accent-color: var(--busy); }
.empty { background: var(--card); border: 1px dashed var(--line); border-radius: 0.5rem; padding: 1rem; }
@media (max-width: 44rem) {
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody, tr, td { display: block; }
  table { border: 0; background: none; }
  tr { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; margin-bottom: 0.7rem; padding: 0.4rem 0; }
  td { display: grid; grid-template-columns: 6rem minmax(0, 1fr); gap: 0.8rem; border: 0; padding: 0.2rem 0.9rem; }
  td::before { content: attr(data-name); color: var(--soft); font-size: 0.85rem; }
  .number { text-align: left; }
  .number, .nowrap, .status { white-space: normal; }
}
`;

/** The style of the page, which is all that it loads; as one piece, for its hash is of every blank. */
export const styleElement: Html = { html: `<style>${pageStyle}</style>` };

const styleHash = createHash('sha256').update(pageStyle).digest('base64');

/** Nothing is loaded, run or sent anywhere: the page has its style, and nothing else. */
export const pagePolicy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
