import {
  limitKinds,
  moodyService,
  sendRequests,
  underLimit,
} from '../../test/client/rate/limited-service.js';
import type { Measured, Question, Scale, Task } from '../harness/question.js';

const limits = [60, 300, 3000];
const requests = 43;
const times = 6;

/** Which of the requests are refused, until six were. */
const places: readonly ((count: number) => boolean)[] = [
  (count) => count <= times,
  ...[2, 3, 5, 7].map((every) => (count: number) => count % every === 0),
];

/** Under a fake clock: its figures are the same on every machine. */
export const pace: Question = {
  asks: 'What do answers of 429 cost, and how much of a rate limit is used?',
  rounds: 1,
  prepare: async () => Promise.resolve(),
  tasks: {
    'six answers of 429': { checkedAs: 'disturbed', run: async () => disturbed() },
    ...Object.fromEntries(limits.map((limit) => [`${limit} a minute`, steady(limit)])),
  },
  figures: (median) => [
    {
      what: `a run of ${requests} requests with ${times} answers of 429, at worst`,
      against: 'what they ask for, and the run without them',
      value: median('six answers of 429', 'ratio'),
      unit: 'times as long',
      target: { bound: 'at most', value: 1.5 },
    },
    ...limits.flatMap((limit) => [
      {
        what: `requests under a limit of ${limit} a minute, at worst`,
        against: 'what the limit allows',
        value: median(`${limit} a minute`, 'taken'),
        unit: 'times as many',
        target: { bound: 'at least', value: 0.9 },
      } as const,
      {
        what: `refused under a limit of ${limit} a minute, at worst`,
        against: 'all requests',
        value: 100 * median(`${limit} a minute`, 'refused'),
        unit: '%',
        target: { bound: 'at most', value: 2 },
      } as const,
    ]),
  ],
};

/** The longest of runs in which the answers of 429 come in several places. */
async function disturbed(): Promise<Measured> {
  let ratio = 0;
  for (const askedMs of [1000, 2500, 60_000]) {
    for (const waiting of [1, 4, 16]) {
      const undisturbedMs = await sendRequests(() => ({ kind: 'answered' }), { waiting, requests });
      for (const isRefused of places) {
        const { answer } = moodyService(isRefused, askedMs, times);
        const tookMs = await sendRequests(answer, { waiting, requests });
        ratio = Math.max(ratio, (tookMs - undisturbedMs) / (times * askedMs));
      }
    }
  }
  return { check: 'all were answered', values: { ratio } };
}

/** The least of what services take that count in different ways. */
function steady(perMinute: number): Task {
  return {
    checkedAs: String(perMinute),
    async run(scale: Scale) {
      const minutes = scale.name === 'quick' ? 5 : perMinute < 3000 ? 60 : 20;
      const shares = [];
      for (const kind of limitKinds) shares.push(await underLimit(kind, perMinute, minutes));
      return {
        check: 'all were answered',
        values: {
          taken: Math.min(...shares.map(({ taken }) => taken)),
          refused: Math.max(...shares.map(({ refused }) => refused)),
        },
      };
    },
  };
}
