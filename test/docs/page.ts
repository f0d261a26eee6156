import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const projectRoot = fileURLToPath(new URL('../../', import.meta.url));

const fence = /^```/;

/** The folders that a page may name for its commands. */
const commandFolders = [
  'the folder of this project',
  'a copy of `examples/`',
  'an empty folder',
  'any folder',
] as const;

export type CommandFolder = (typeof commandFolders)[number];

/** A fenced block of a page. */
export interface Block {
  readonly language: string;
  readonly text: string;
  /** Line of its first fence, counted from 1. */
  readonly line: number;
}

/** A page of the documentation, by its path from the project's root. */
export class Page {
  readonly path: string;
  readonly text: string;

  constructor(path: string) {
    this.path = path;
    this.text = readFileSync(`${projectRoot}${path}`, 'utf8');
  }

  /** What stands under a heading, as far as the next one of its level or above. */
  section(heading: string): string {
    const lines = this.text.split('\n');
    const start = lines.indexOf(heading);
    if (start === -1) throw new Error(`${this.path} has no heading ${JSON.stringify(heading)}`);
    const level = heading.indexOf(' ');
    const kept: string[] = [];
    let isInFence = false;
    for (const line of lines.slice(start + 1)) {
      if (fence.test(line)) isInFence = !isInFence;
      const hashes = /^(#+) /.exec(line)?.[1];
      if (!isInFence && hashes !== undefined && hashes.length <= level) break;
      kept.push(line);
    }
    return kept.join('\n');
  }

  /** The anchors of the headings. */
  anchors(): ReadonlySet<string> {
    return new Set(this.headings().map((heading) => anchorOf(heading)));
  }

  /** The lines that are headings. */
  headings(): readonly string[] {
    return withoutBlocks(this.text)
      .split('\n')
      .filter((line) => /^#+ /.test(line));
  }

  /** Where the page says that its commands run; `undefined` when it says nothing of it. */
  folder(): CommandFolder | undefined {
    const reported =
      /[Rr]un the commands? in \[?(.*?)[\].:,;]/s.exec(withoutBlocks(this.text))?.[1] ?? '';
    return commandFolders.find((folder) => reported === folder);
  }

  /** The page with other texts in some of its blocks. */
  withBlocks(texts: ReadonlyMap<Block, string>): string {
    const lines = this.text.split('\n');
    for (const [block, text] of [...texts].toReversed()) {
      const length = block.text.split('\n').length - 1;
      lines.splice(block.line, length, ...text.trimEnd().split('\n'));
    }
    return lines.join('\n');
  }

  blocks(language: string): readonly Block[] {
    return blocksOf(this.text).filter((block) => block.language === language);
  }
}

/** Every page that users and contributors read. */
export function allPages(): readonly Page[] {
  const root = ['README', 'ARCHITECTURE', 'CHANGELOG', 'CONTRIBUTING', 'SECURITY'];
  const paths = [
    ...root.map((name) => `${name}.md`),
    ...readdirSync(`${projectRoot}docs`, { encoding: 'utf8', recursive: true })
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${name}`),
  ];
  return paths.map((path) => new Page(path));
}

/** The anchor of a heading, as GitHub makes it. */
export function anchorOf(heading: string): string {
  const plain = heading.replace(/^#+ /, '').toLowerCase();
  return plain.replaceAll(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
}

/** A text of Markdown without its fenced blocks. */
export function withoutBlocks(text: string): string {
  let isInFence = false;
  const kept = text.split('\n').filter((line) => {
    const isFence = fence.test(line);
    if (isFence) isInFence = !isInFence;
    return !isInFence && !isFence;
  });
  return kept.join('\n');
}

/** The rows of all tables in a text of Markdown, their heads left out: the cells of each. */
export function tableRows(text: string): readonly (readonly string[])[] {
  const lines = withoutBlocks(text).split('\n');
  const isRule = (line: string | undefined): boolean => /^\|[ :|-]+\|$/.test(line ?? '');
  return lines
    .filter((line, at) => line.startsWith('|') && !isRule(line) && !isRule(lines[at + 1]))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

/** The items of all lists in a text of Markdown: what is before the first colon, and after it. */
export function listItems(text: string): readonly (readonly [string, string])[] {
  return withoutBlocks(text)
    .split('\n')
    .flatMap((line) => {
      const [, name, rest] = /^- (.*?): (.*)$/.exec(line) ?? [];
      return name === undefined || rest === undefined ? [] : [[name, rest] as const];
    });
}

/** What stands in code spans. */
export function codeSpans(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code ?? '');
}

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = [];
  let open: { language: string; line: number; lines: string[] } | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    if (!fence.test(line)) open?.lines.push(line);
    else if (open === undefined) open = { language: line.slice(3), line: at + 1, lines: [] };
    else {
      const { language, line: first, lines } = open;
      blocks.push({ language, line: first, text: `${lines.join('\n')}\n` });
      open = undefined;
    }
  }
  return blocks;
}

/** The sample list. */
export const contacts = join('examples', 'contacts.csv');

/** The command that a page runs first on the sample list. */
export function mainJobOf(page: Page): Block {
  const found = page.blocks('sh').find(({ text }) => text.includes(contacts));
  if (!found) throw new Error(`${page.path} does not run the main job`);
  return found;
}
