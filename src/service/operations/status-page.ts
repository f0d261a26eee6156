import { counted, grouped, moment } from '../../platform/text/shown-numbers.js';
import { endlessCredits } from '../account.js';
import { pageAccounts } from '../http/access.js';
import { bytesALine } from '../batches/batch-jobs.js';
import {
  pagePolicy,
  statusHtml,
  type AccountView,
  type BatchView,
  type RunView,
  type RequestView,
} from './status-html.js';
import type { ServiceContext, Handler, LoggedRequest } from './operation.js';
import { refundOf, statusOf, type Batch, type Stage } from '../storage/batch.js';
import type { AccountState } from '../storage/service-state.js';

const mostBatches = 100;

/** `GET /`: batches with their progress, balances and requests, as a page for people. */
export const statusPage: Handler = async ({ request, query }, service) => {
  const { store, requests, clock } = service;
  const known = [...store.state.accounts.values()];
  const accounts = pageAccounts(request, known);
  const names = new Set(accounts.map(({ name }) => name));
  const isAll = accounts.length === known.length;
  const batches = [...store.state.batches.values()].filter(({ account }) => names.has(account));
  const shown = batches.slice(-mostBatches).toReversed();
  const noted = requests.last.filter(({ account }) => isAll || names.has(account));
  const page = statusHtml({
    now: moment(new Date(clock.wallNow())),
    accounts: accounts.map((account) => accountView(account, batches, service)),
    runs: runViews(shown, batches, service),
    moreBatches: batches.length - shown.length,
    requests: noted.map(requestView),
    requestsTotal: isAll ? requests.total : noted.length,
    isWhole: query.has('all'),
  });
  return {
    status: 200,
    contentType: 'text/html; charset=utf-8',
    headers: { 'Content-Security-Policy': pagePolicy, 'Referrer-Policy': 'no-referrer' },
    body: once(page),
  };
};

async function* once(text: string): AsyncGenerator<string, void> {
  yield text;
}

function accountView(
  { name, keySha256, isSuspended }: AccountState,
  batches: readonly Batch[],
  { store }: ServiceContext,
): AccountView {
  return {
    name,
    emailCredits: creditsText(store.state.balance(name, 'email')),
    phoneCredits: creditsText(store.state.balance(name, 'phone')),
    batches: batches.filter(({ account }) => account === name).length,
    note: keySha256 === null ? 'its key is revoked' : isSuspended ? 'suspended' : '',
  };
}

/** An unlimited grant stays near its beginning. */
function creditsText(balance: number): string {
  return balance > endlessCredits / 2 ? 'no end' : grouped(balance);
}

const runId = /^[0-9a-f]{16}$/;
const batchNumber = /^\d{6,15}(?:\.\d{1,15})?$/;
const otherNumber = /^\d{1,15}$/;

/** The run of a batch by its name: Sluice's have prefix, id of the run, number, part if any, and attempt. */
function runOf({ uuid, name, account }: Batch) {
  const parts = name.split('-');
  const at = parts.findLastIndex((part) => runId.test(part));
  const [number = '', ...others] = parts.slice(at + 1);
  const isNumbered = batchNumber.test(number) && others.every((part) => otherNumber.test(part));
  const isOurs = at > 0 && isNumbered && (others.length === 1 || others.length === 2);
  const [called, id = ''] = isOurs ? [parts.slice(0, at).join('-'), parts[at]] : [];
  return { called, id, key: called === undefined ? uuid : `${account} ${called} ${id}` };
}

/** @param all including those that are not shown, which count */
function runViews(
  shown: readonly Batch[],
  all: readonly Batch[],
  service: ServiceContext,
): readonly RunView[] {
  const members = byRun(all);
  return [...byRun(shown)].map(([key, batches]) => {
    const [first] = batches as [Batch];
    const { called, id } = runOf(first);
    const own = members.get(key) ?? [];
    return {
      name: called,
      id,
      done: own.filter(({ stage }) => stage.name === 'done').length,
      all: own.length,
      batches: batches.map((batch) => batchView(batch, service)),
    };
  });
}

function byRun(batches: readonly Batch[]): ReadonlyMap<string, readonly Batch[]> {
  const runs = new Map<string, Batch[]>();
  for (const batch of batches) {
    const { key } = runOf(batch);
    const own = runs.get(key);
    if (own) own.push(batch);
    else runs.set(key, [batch]);
  }
  return runs;
}

function batchView(batch: Batch, { jobs }: ServiceContext): BatchView {
  const { uuid, name, account, parameters, stage, updatedAtMs } = batch;
  return {
    uuid,
    name,
    account,
    kind: `${parameters.type}, ${parameters.target_country}`,
    status: statusOf(stage),
    tone: toneOf(stage),
    progress: progressOf(batch, jobs.progress(uuid)),
    addresses: 'prepared' in stage ? grouped(stage.prepared.addresses) : '',
    outcome: outcomeOf(stage),
    updatedAt: moment(new Date(updatedAtMs)),
  };
}

function toneOf({ name }: Stage): BatchView['tone'] {
  if (name === 'failed') return 'bad';
  if (name === 'parsing' || name === 'verifying') return 'busy';
  // Nothing is paid for them, and nothing is done.
  return name === 'done' ? 'good' : 'waiting';
}

function progressOf({ stage, bytes }: Batch, done: number): number | undefined {
  if (stage.name === 'parsing') return Math.min(0.99, done / Math.max(1, bytes / bytesALine));
  if (stage.name === 'verifying') return done / Math.max(1, stage.prepared.addresses);
  return undefined;
}

function outcomeOf(stage: Stage): string {
  switch (stage.name) {
    case 'uploaded':
      return 'waits for its preparation';
    case 'parsing':
      return '';
    case 'failed':
      return 'ended in an internal error';
    case 'ready': {
      const { valid, wrong, duplicate } = stage.prepared.counts;
      return `${grouped(valid)} well-formed, ${grouped(wrong)} malformed, ${counted(duplicate, 'duplicate')}`;
    }
    case 'verifying':
      return counted(stage.charge.addresses - refundOf(stage.charge), 'credit');
    case 'done': {
      const count = (flag: 'valid' | 'wrong' | 'unknown') =>
        grouped(
          stage.verdicts.reduce((sum, { verdict, count: n }) => sum + (verdict[flag] ? n : 0), 0),
        );
      return (
        `${count('valid')} valid, ${count('wrong')} wrong, ${count('unknown')} unknown; ` +
        counted(stage.charge.addresses - refundOf(stage.charge), 'credit')
      );
    }
  }
}

function requestView({ atMs, method, path, account, status, tookMs }: LoggedRequest): RequestView {
  return {
    at: moment(new Date(atMs)),
    what: `${method} ${path ?? '(unknown path)'}`,
    account,
    status: status === null ? 'none' : String(status),
    tone: status === null || status >= 500 ? 'bad' : status >= 400 ? 'busy' : 'good',
    took: `${grouped(tookMs)} ms`,
  };
}
