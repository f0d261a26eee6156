import { readFile } from 'node:fs/promises';
import ts from 'typescript';

const parsed = new Map();

/**
 * The tree of a module of the sources, with no comment in it: parsed once for all rules that look at it.
 *
 * @param {string} file
 * @returns {Promise<ts.SourceFile>}
 */
export function parseModule(file) {
  if (!parsed.has(file)) parsed.set(file, parse(file));
  return parsed.get(file);
}

async function parse(file) {
  const settings = {
    languageVersion: ts.ScriptTarget.Latest,
    jsDocParsingMode: ts.JSDocParsingMode.ParseNone,
  };
  return ts.createSourceFile(file, await readFile(file, 'utf8'), settings, true);
}
