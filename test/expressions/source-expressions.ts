import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const projectRoot = fileURLToPath(new URL('../..', import.meta.url));

/** A regular expression of `src/`, as it is written there. */
export interface SourceExpression {
  /** File and line. */
  readonly at: string;
  readonly source: string;
  readonly flags: string;
}

export interface SourceExpressions {
  readonly literals: readonly SourceExpression[];
  /** Files that make expressions from texts. */
  readonly makers: readonly string[];
}

/** Finds every regular expression in `src/`. */
export async function findExpressions(): Promise<SourceExpressions> {
  const literals: SourceExpression[] = [];
  const makers = new Set<string>();
  const entries = await readdir(join(projectRoot, 'src'), { recursive: true });
  for (const entry of entries.filter((name) => name.endsWith('.ts')).toSorted()) {
    const file = `src/${entry.replaceAll('\\', '/')}`;
    const text = await readFile(join(projectRoot, file), 'utf8');
    const parsed = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) {
        const { line } = parsed.getLineAndCharacterOfPosition(node.getStart());
        const end = node.text.lastIndexOf('/');
        literals.push({
          at: `${file}:${line + 1}`,
          source: node.text.slice(1, end),
          flags: node.text.slice(end + 1),
        });
      }
      // `RegExp(…)` and `new RegExp(…)`; its name alone is a type.
      if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isRegExp(node.expression)) {
        makers.add(file);
      }
      ts.forEachChild(node, visit);
    };
    visit(parsed);
  }
  return { literals, makers: [...makers] };
}

function isRegExp(node: ts.Expression): boolean {
  return ts.isIdentifier(node) && node.text === 'RegExp';
}
