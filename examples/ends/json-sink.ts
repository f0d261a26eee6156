// A sink of your own: all rows as one JSON array, in a file that appears when it is whole.
import { open, rename, rm } from 'node:fs/promises';
import type { OpenSinkOptions, Sink, SinkWriting } from 'sluice';

export function jsonSink(path: string): Sink {
  return {
    name: path,
    async check() {
      // It would say here what is wrong with the path, before anything is paid.
    },
    open: async (options) => openWriting(path, options),
  };
}

async function openWriting(path: string, options: OpenSinkOptions): Promise<SinkWriting> {
  const draft = `${path}.draft`;
  const file = await open(draft, 'w');
  let before = '[';
  return {
    async write({ chunk, from, to, outcomes, width }) {
      for (let row = from; row < to; row += 1) {
        const own = options.reading.header.map((name, column) => {
          const cell = chunk.text(row, column);
          return [name, typeof cell === 'string' ? cell : null] as const;
        });
        // An outcome for each verified column of each row; an outcome has its cells, one for each added column.
        const others = options.added.flatMap((columns, verified) => {
          const cells = options.cellsOf(outcomes[(row - from) * width + verified] ?? 0, verified);
          return columns.map(({ name }, at) => [name, cells[at] ?? null] as const);
        });
        await file.write(`${before}${JSON.stringify(Object.fromEntries([...own, ...others]))}`);
        before = ',\n';
      }
    },
    async finish() {
      await file.write(before === '[' ? '[]\n' : ']\n');
      await file.sync();
      await file.close();
      await rename(draft, path);
    },
    async abort() {
      await file.close();
      await rm(draft, { force: true });
    },
  };
}
