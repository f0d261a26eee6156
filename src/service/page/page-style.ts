import { createPageLook } from '../../platform/html/page.js';

/** So many of the newest a narrow window shows, unless it is asked for all. */
export const mostOnPhone = { batches: 4, requests: 5 } as const;

export const statusLook = createPageLook(`
:root {
  --good: light-dark(#17663a, #6fd39a);
  --busy: light-dark(#7a4b00, #f0b95a);
  --waiting: light-dark(#1d4f91, #8fbcff);
  --bad: light-dark(#9c1c1c, #ff9a94);
}
body { max-width: 72rem; font-size: 0.95rem; }
h1 { font-size: 1.4rem; }
h2 { font-size: 1.05rem; margin: 2rem 0 0.6rem; }
.accounts { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: 0.8rem; }
.account { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.8rem 1rem; }
.account h3 { font-size: 0.95rem; margin: 0 0 0.4rem; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 0.1rem 1rem; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; text-align: right; font-variant-numeric: tabular-nums; }
table { background: var(--card); border: 1px solid var(--line); }
th, td { padding: 0.45rem 0.7rem; }
th { color: var(--soft); font-weight: 600; font-size: 0.85rem; }
td { overflow-wrap: anywhere; }
.nowrap { white-space: nowrap; }
small { font-size: 0.8rem; }
.status { font-weight: 600; white-space: nowrap; }
.good { color: var(--good); }
.waiting { color: var(--waiting); }
.busy { color: var(--busy); }
.bad { color: var(--bad); }
progress { width: 100%; min-width: 6rem; height: 0.6rem; accent-color: var(--busy); }
.run th { text-align: left; color: inherit; font-size: 0.95rem; padding-top: 0.9rem; overflow-wrap: anywhere; }
.run small { color: var(--soft); font-weight: 400; }
.empty { background: var(--card); border: 1px dashed var(--line); border-radius: 0.5rem; padding: 1rem; }
.more { display: none; margin-top: 0.4rem; }
a { color: inherit; }
@media (max-width: 44rem) {
  body { padding: 1rem 0.7rem 2rem; }
  h2 { margin: 1.2rem 0 0.4rem; }
  .accounts { gap: 0.5rem; }
  .account { padding: 0.5rem 0.8rem; }
  thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  table, tbody { display: block; border: 0; background: none; }
  tr { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.9rem; background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; margin-bottom: 0.4rem; padding: 0.4rem 0.8rem; }
  td { border: 0; padding: 0; max-width: 100%; }
  td:empty { display: none; }
  .number, .nowrap, .status { white-space: normal; text-align: left; }
  .soft { color: var(--soft); font-size: 0.8rem; }
  .batches td:first-child { flex: 1 1 100%; }
  td[data-name='Addresses']::before { content: 'addresses '; }
  .requests td[data-name='Request'] { order: -2; flex: 1 1 70%; }
  .requests td[data-name='Answer'] { order: -1; font-weight: 600; }
  .batches tr.run { border: 0; background: none; padding: 0.4rem 0 0; margin: 0; }
  .run th { border: 0; padding: 0; }
  .batches.short tr:nth-child(n + ${mostOnPhone.batches + 1} of .batch), .requests.short tr:nth-child(n + ${mostOnPhone.requests + 1}) { display: none; }
  .more { display: block; }
}
`);

/** Nothing is loaded, run or sent anywhere, and no other page may hold this one. */
export const pagePolicy = `${statusLook.policy}; frame-ancestors 'none'`;
