// The third Transform alone: exports that were fetched before are joined onto their rows. Nothing is
// sent: a stage of your own replaces the service.
// npx tsx examples/join-results.ts
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { joinResults, rowsToBatches, StreamPlan, type Parcel, type Row } from 'sluice';

const kept = {
  'ana@example.com': {
    email: 'ana@example.com',
    valid: true,
    wrong: false,
    unknown: false,
    quality: 'good',
    result: 'ok',
    is_syntax_error: false,
    is_free: false,
    is_role: false,
    is_disposable: false,
    is_catch_all: false,
  },
};

const fromKeptExports = new Transform({
  objectMode: true,
  transform(parcel: Parcel, _encoding, done) {
    if (parcel.kind !== 'batch') {
      done(null, parcel);
      return;
    }
    const results = async () => Readable.from([Buffer.from(JSON.stringify(kept))]);
    const settled: Parcel = {
      kind: 'settled',
      batch: parcel.batch,
      batchUuid: undefined,
      charge: undefined,
      ending: { results },
    };
    done(null, settled);
  },
});

const rows = [
  { id: 1, email: 'Ana@Example.com' },
  { id: 2, email: 'joe@example.com' },
];
const plan = new StreamPlan({ email: ['email'], country: 'US' });
const steps = [rowsToBatches(plan), fromKeptExports, joinResults(plan)] as const;
await pipeline(rows, ...steps, async (joined: AsyncIterable<Row>) => {
  for await (const row of joined) {
    console.log(row['id'], row['email_verification'], row['email_quality']);
  }
});
