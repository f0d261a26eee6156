/** The lines that a request is about, as they were sent. */
export interface SentLines {
  open(): AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
}

/** A shorter cell is in too many words, and tells of nobody. */
const shortest = 4;
const longestCell = 64 * 1024;
/** Batches are smaller; of a larger file, lines further on are only hidden for what they look like. */
const mostBytes = 16 * 1024 * 1024;

/**
 * Takes the lines that were sent out of what the service says of them: also a line that looks like no
 * address is somebody's.
 *
 * @returns `undefined` when the lines cannot be read, and so nothing can be said of the words
 */
export async function hideCells(words: string, sent: SentLines): Promise<string | undefined> {
  const beginnings = new Set<string>();
  for (let at = 0; at + shortest <= words.length; at += 1) {
    beginnings.add(words.slice(at, at + shortest));
  }
  if (beginnings.size === 0) return words;
  const found = new Set<string>();
  try {
    for await (const line of linesOf(sent)) {
      const cell = line.trim();
      if (!beginnings.has(cell.slice(0, shortest)) || !words.includes(cell)) continue;
      found.add(cell);
    }
  } catch {
    return undefined;
  }
  let hidden = words;
  // The longest first: one cell may be a part of another.
  for (const cell of [...found].toSorted((a, b) => b.length - a.length)) {
    hidden = hidden.replaceAll(cell, '<cell>');
  }
  return hidden;
}

async function* linesOf(sent: SentLines): AsyncGenerator<string, void, undefined> {
  const decoder = new TextDecoder();
  let rest = '';
  let bytes = 0;
  for await (const piece of sent.open()) {
    const lines = decoder.decode(piece, { stream: true }).split('\n');
    // What is so long is no cell: it is not put together.
    lines[0] = rest.length > longestCell ? '' : rest + (lines[0] ?? '');
    rest = lines.pop() ?? '';
    yield* lines;
    bytes += piece.length;
    if (bytes > mostBytes) return;
  }
  yield rest + decoder.decode();
}
