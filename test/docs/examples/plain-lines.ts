/** A line of a page that is no more than one command of ours. */
export interface PlainLine {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What it is to end with. */
  readonly code: number;
}

/**
 * Takes a script apart that needs no shell: `sluice …`, settings in front of it, `export`, quotes, and a
 * comment behind that names an exit code.
 *
 * @returns `undefined` when it needs one
 */
export function plainLines(script: string): readonly PlainLine[] | undefined {
  const exported: Record<string, string> = {};
  const lines: PlainLine[] = [];
  for (const line of script.trim().split('\n')) {
    const [, text = line, code = '0'] = /^(.*) # exit (\d+)$/.exec(line) ?? [];
    const words = wordsOf(text);
    if (!words) return undefined;
    const isExport = words[0] === 'export';
    const rest = isExport ? words.slice(1) : words;
    const settings = rest.slice(0, rest.findIndex((word) => !isSetting(word)) >>> 0);
    const env = Object.fromEntries(settings.map(settingOf));
    const args = rest.slice(settings.length);
    if (isExport && args.length === 0) Object.assign(exported, env);
    else if (!isExport && args[0] === 'sluice') {
      lines.push({ args: args.slice(1), env: { ...exported, ...env }, code: Number(code) });
    } else return undefined;
  }
  return lines;
}

/** Words and quoted words; `undefined` where something means more to a shell. */
function wordsOf(line: string): readonly string[] | undefined {
  const words: string[] = [];
  const form = /\s*((?:'[^']*'|"[^"$`\\]*"|[\w./:@%+,=#~-])+)(?=\s|$)/y;
  while (form.lastIndex < line.trimEnd().length) {
    const word = form.exec(line)?.[1];
    if (word === undefined || word.startsWith('#')) return undefined;
    words.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, '$1$2'));
  }
  return words;
}

function isSetting(word: string): boolean {
  return /^[A-Z_]+=/.test(word);
}

function settingOf(word: string): readonly [string, string] {
  const at = word.indexOf('=');
  return [word.slice(0, at), word.slice(at + 1)];
}
