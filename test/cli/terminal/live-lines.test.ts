import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { LiveLines } from '../../../src/cli/terminal/progress-lines.js';

/** What a terminal would show: the text, and the two sequences that the lines are drawn with. */
function createScreen(rows = 24) {
  let lines = [''];
  return {
    rows,
    columns: 80,
    write(text: string) {
      // oxlint-disable-next-line no-control-regex
      for (const [piece] of text.matchAll(/\u001b\[(\d+)A\r\u001b\[J|\n|[^\n\u001b]+/g)) {
        // oxlint-disable-next-line no-control-regex
        const up = /^\u001b\[(\d+)A/.exec(piece)?.[1];
        if (up !== undefined) lines = [...lines.slice(0, lines.length - 1 - Number(up)), ''];
        else if (piece === '\n') lines.push('');
        else lines[lines.length - 1] += piece;
      }
    },
    shown: () => lines.slice(0, -1),
  };
}

describe('live lines', () => {
  it('are drawn over themselves, and others pass above them', () => {
    const screen = createScreen();
    let count = 0;
    const live = new LiveLines(screen, () => [`count ${(count += 1)}`, 'second']);
    live.above('before\n');
    live.draw();
    live.draw();
    expect(screen.shown()).toEqual(['before', 'count 2', 'second']);
    live.above('said meanwhile\n');
    expect(screen.shown()).toEqual(['before', 'said meanwhile', 'count 3', 'second']);
    live.stop();
    expect(screen.shown()).toEqual(['before', 'said meanwhile']);
    live.above('after\n');
    expect(screen.shown()).toEqual(['before', 'said meanwhile', 'after']);
  });

  it('are no more than the terminal has rows for', () => {
    const screen = createScreen(3);
    const live = new LiveLines(screen, () => ['1', '2', '3', '4']);
    live.draw();
    live.draw();
    expect(screen.shown()).toEqual(['3', '4']);
  });

  it('are all shown where the terminal does not know its height', () => {
    const screen = createScreen(0);
    const live = new LiveLines(screen, () => ['1', '2', '3', '4']);
    live.draw();
    expect(screen.shown()).toEqual(['1', '2', '3', '4']);
  });

  it('do not show for a run that is over at once', () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const screen = createScreen();
    const live = new LiveLines(screen, () => ['line']);
    live.start();
    vi.advanceTimersByTime(250);
    live.stop();
    vi.advanceTimersByTime(5000);
    expect(screen.shown()).toEqual([]);
    live.start();
    vi.advanceTimersByTime(1000);
    expect(screen.shown()).toEqual(['line']);
    live.stop();
    expect(screen.shown()).toEqual([]);
  });

  it('are away while a question is open, whatever is reported meanwhile, and come back after it', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const screen = createScreen();
    const live = new LiveLines(screen, () => ['line']);
    live.start();
    vi.advanceTimersByTime(1000);
    await live.without(async () => {
      screen.write('Launch them?\n');
      live.start();
      vi.advanceTimersByTime(1000);
      live.above('said meanwhile\n');
      vi.advanceTimersByTime(1000);
      expect(screen.shown()).toEqual(['Launch them?', 'said meanwhile']);
    });
    vi.advanceTimersByTime(1000);
    expect(screen.shown()).toEqual(['Launch them?', 'said meanwhile', 'line']);
    live.stop();
  });
});
