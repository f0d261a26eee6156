import { readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from '../project.mjs';
import { parseModule } from './parse-module.mjs';

/*
 * The library names an option by optionName('retryFailed') alone: a program reads `retryFailed`, the command
 * line --retry-failed. A text with either written into it is for one of them only.
 */

/** Custom properties of a page's style begin as a flag does, and so does the boundary of a form. */
const exempt = new Set([
  'client/http/multipart.ts',
  'platform/html.ts',
  'report/page/report-style.ts',
  'service/operations/status-html.ts',
]);
const flag = /(?:^|[^-\w])--[a-z]/;
const inBackticks = /`[A-Za-z][\w.]*(?:: [^`\n]{1,20})?`/;

/**
 * Reads every module under `sourceFolder` but those of `cli/`, and names the texts that have a flag.
 *
 * @returns one line a violation; empty when the rule holds
 */
export async function optionViolations(sourceFolder) {
  const violations = [];
  for await (const { from, line, text } of texts(sourceFolder)) {
    if (exempt.has(from)) continue;
    const what = flag.test(text)
      ? 'a flag of the command line'
      : inBackticks.test(text) && 'an option in backticks';
    if (!what) continue;
    violations.push(`${join('src', from)}:${line}: has ${what} in a text; use optionName()`);
  }
  return violations;
}

/**
 * The options that texts of the library name.
 *
 * @returns {Promise<ReadonlySet<string>>}
 */
export async function optionMentions(sourceFolder) {
  const mentions = new Set();
  for (const file of await sourceFiles(sourceFolder)) {
    const text = await readFile(file, 'utf8');
    for (const [, name] of text.matchAll(/\boptionName\('([^']+)'/g)) mentions.add(name);
  }
  return mentions;
}

async function* texts(sourceFolder) {
  for (const file of await sourceFiles(sourceFolder)) {
    const from = relative(sourceFolder, file).split(sep).join('/');
    if (from.startsWith('cli/')) continue;
    const source = await parseModule(file);
    for (const node of textsIn(source)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      yield { from, line: line + 1, text: isOpen(node) ? `${node.text}x` : node.text };
    }
  }
}

/** Whether something is filled in after it. */
function isOpen(node) {
  return ts.isTemplateHead(node) || ts.isTemplateMiddle(node);
}

function textsIn(node, found = []) {
  // The help of an option is for the command line only, and so is the reference of events.
  if (ts.isPropertyAssignment(node) && ['help', 'when'].includes(node.name.text)) return found;
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
  if (isText || ts.isTemplateMiddleOrTemplateTail(node)) found.push(node);
  ts.forEachChild(node, (child) => void textsIn(child, found));
  return found;
}
