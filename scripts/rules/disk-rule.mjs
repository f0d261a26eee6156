import { join, relative, sep } from 'node:path';
import ts from 'typescript';
import { sourceFiles } from '../project.mjs';
import { parseModule } from './parse-module.mjs';

/*
 * What has to outlast a power cut is written by src/platform/files alone, and locks are taken there. Each of these
 * has more to it than the call that one thinks of: what is synced in which order, what a file system
 * without a call does, what a kill leaves.
 */

/** Calls of Node that make something durable, or give it its name. */
const durableCalls = new Set([
  'rename',
  'renameSync',
  'fsync',
  'fsyncSync',
  'fdatasync',
  'fdatasyncSync',
  'sync',
  'datasync',
]);
/** Calls that have `flush` among their options. */
const flushingCall = /^(?:createWriteStream|(?:write|append)File(?:Sync)?)$/;
const lockPackages = new Set(['proper-lockfile', 'lockfile', 'fs-ext', 'os-lock', 'async-lock']);
const lockNames = new Set(['openLocked', 'O_EXLOCK']);
const temporaryName = /\.(?:part|partial|tmp|temp)$/;

/**
 * Reads every module under `sourceFolder` but those of `platform/files/`, and names what writes durably or takes
 * a lock by itself.
 *
 * @returns one line a violation; empty when the rule holds
 */
export async function diskViolations(sourceFolder) {
  const violations = [];
  for (const file of await sourceFiles(sourceFolder)) {
    const from = relative(sourceFolder, file);
    if (from.startsWith(join('platform', 'files') + sep)) continue;
    const source = await parseModule(file);
    for (const { node, what } of findIn(source)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart(source));
      violations.push(`${join('src', from)}:${line + 1}: ${what}`);
    }
  }
  return violations;
}

function findIn(node, found = []) {
  const what = refuse(node);
  if (what !== undefined) found.push({ node, what });
  ts.forEachChild(node, (child) => void findIn(child, found));
  return found;
}

function refuse(node) {
  const name = nameOf(node);
  if (name !== undefined && durableCalls.has(name)) {
    return `uses ${name} by itself: platform/files/file-system.ts and platform/files/log-file.ts write durably`;
  }
  if (name !== undefined && lockNames.has(name)) return ownLock(name);
  if (isFlush(node)) return 'asks Node to flush: platform/files/file-system.ts writes durably';
  if (isExclusiveLock(node)) return ownLock('a file made with wx');
  if (ts.isIdentifier(node)) return undefined;
  const text = textOf(node) ?? '';
  if (temporaryName.test(text)) {
    return `makes a temporary name ending in ${text}: platform/files/file-system.ts has them`;
  }
  const isLock = text === 'flock' || lockPackages.has(text) || text.endsWith('/open-locked.js');
  return isLock ? ownLock(text) : undefined;
}

/** What a node uses: a member, a name that is imported, or one that is taken out of an object. */
function nameOf(node) {
  if (ts.isPropertyAccessExpression(node)) return node.name.text;
  if (ts.isElementAccessExpression(node)) return textOf(node.argumentExpression);
  if (ts.isImportSpecifier(node)) return (node.propertyName ?? node.name).text;
  if (ts.isBindingElement(node)) return textOf(node.propertyName ?? node.name);
  return undefined;
}

/** The text of a literal, the end of a template, or a plain name. */
function textOf(node) {
  if (ts.isStringLiteralLike(node) || ts.isTemplateTail(node)) return node.text;
  return ts.isIdentifier(node) ? node.text : undefined;
}

function isFlush(node) {
  if (!ts.isPropertyAssignment(node) && !ts.isShorthandPropertyAssignment(node)) return false;
  const call = node.parent.parent;
  if (textOf(node.name) !== 'flush' || !ts.isCallExpression(call)) return false;
  return flushingCall.test(nameOf(call.expression) ?? textOf(call.expression) ?? '');
}

/** A lock by the existence of a file: one that outlives whoever is killed. */
function isExclusiveLock(node) {
  if (!ts.isCallExpression(node)) return false;
  const [path, ...rest] = node.arguments;
  if (path === undefined || !rest.some((argument) => textOf(argument) === 'wx')) return false;
  return /lock/i.test(path.getText(node.getSourceFile()));
}

function ownLock(name) {
  return `takes a lock by itself with ${name}: platform/files/file-lock.ts takes them`;
}
