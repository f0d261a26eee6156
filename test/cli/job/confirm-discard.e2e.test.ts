import { expect, it } from 'vitest';
import { confirmDiscard } from '../../../src/cli/job/confirm-discard.js';
import type { RunStatus } from '../../../src/index.js';
import { personAtTerminal } from '../person-at-terminal.js';

/** Of a run that was paid for. */
const status = {
  startedAt: '2026-11-22T03:15:00.000Z',
  service: 'https://service.example',
  isFinished: true,
  launchedCredits: { email: 10, phone: 0 },
} as unknown as RunStatus;

async function abandon(
  answer: string,
  given: Partial<Parameters<typeof confirmDiscard>[2]> = {},
): Promise<string> {
  const person = personAtTerminal(answer);
  const warned: string[] = [];
  await confirmDiscard('sluice abandon', status, {
    isAgreed: false,
    forgets: true,
    person,
    warn: (line) => warned.push(line),
    signal: new AbortController().signal,
    ...given,
  });
  return person.heard() + warned.join('');
}

const loss = 'which is finished: the same command then pays for all of it again';

it('asks before the record of a finished run is dropped, which the same command would pay for again', async () => {
  expect(await abandon('y')).toContain(`${loss}. Drop it? [y/N]`);
  await expect(abandon('n')).rejects.toThrow('stopped; nothing was sent or deleted');
});

it('needs --yes where nobody is at a terminal, and says what is lost all the same', async () => {
  const nobody = { ...personAtTerminal(''), mayBeAsked: false };
  await expect(abandon('', { person: nobody })).rejects.toThrow(`${loss}; add --yes to drop it`);
  expect(await abandon('', { person: nobody, isAgreed: true })).toContain(loss);
});

it('says nothing of a finished run whose record nothing depends on', async () => {
  expect(await abandon('n', { forgets: false })).toBe('');
});
