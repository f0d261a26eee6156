// The words that nothing for people to read may hold, and where they are looked for. markdownlint and its
// rule search-replace find them: in pages as they are, in modules in what a reader meets of them.
import { dirname, join } from 'node:path';
import { lint } from 'markdownlint/promise';
import markdownIt from 'markdown-it';
import searchReplace from 'markdownlint-rule-search-replace';
import ts from 'typescript';

const words = [
  ['anew', 'again', 'anew'],
  ['mend', 'fix, repair', 'mend(?:s|ed|ing)?'],
  ['tells', 'says, shows, recognizes', 'tells|(?:is|are|was|be) told'],
  ['stands', 'is', 'stands?(?! for\\b|-)(?=\\s|[,.;:])'],
  ['by looking', 'auto-detected', 'by looking'],
  [
    'behind',
    'after (a server is behind a proxy)',
    '(?<!left )behind(?! an? (?:proxy|firewall)\\b)',
  ],
  ["one's own", 'your own', "one['’]s own"],
  ['but for', 'except', 'but for(?! each\\b| all\\b)'],
  ['to and fro', 'back and forth', 'to and fro'],
  ['there is no such', '… not found', 'there is no such'],
  [
    'is no …',
    'is not a …',
    '(?:is|are) no (?:JSON|CSV|text|UTF-8|XML|URL|uuid|file|folder|number|list|option|table)(?! of rows)',
  ],
  ['whoever', 'anyone who, its reader', 'whoever'],
  ['gone on with', 'resumed', '(?:gone|goes|going) on with'],
  ['what is … is', 'name the thing', "what (?:is|are) [^?.,;:|()`'\\n]{1,50}? (?:is|are|was)(?= )"],
];

const config = {
  default: false,
  'search-replace': {
    rules: words.map(([name, instead, pattern]) => ({
      name,
      message: `say: ${instead}`,
      searchPattern: `/(?<![\\w-])(?:${pattern})(?![\\w-])/giu`,
      skipCode: true,
    })),
  },
};

/**
 * Holds texts to plain English.
 *
 * @param {Readonly<Record<string, string>>} texts Markdown, by where it is from
 * @returns {Promise<readonly string[]>} the places where a word is, as lines for people
 */
export async function wordViolations(texts) {
  const found = await lint({
    strings: texts,
    config,
    customRules: [searchReplace],
    markdownItFactory: () => markdownIt(),
  });
  return Object.entries(found).flatMap(([path, errors]) =>
    errors.map(({ lineNumber, errorDetail, errorContext }) => {
      const said = [errorDetail, errorContext].filter(Boolean).join(' ');
      return `${path}:${lineNumber}: ${said}`;
    }),
  );
}

/**
 * What a module has for people, each in the line where it begins: the texts in its strings, and the
 * docstrings of what the package exports, without their code. All else is empty.
 *
 * @param {string} path
 * @param {string} source
 * @param {ReadonlySet<string>} names what the package exports of this module
 * @returns {string}
 */
export function readableText(path, source, names) {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true);
  const lines = source.split('\n').map(() => '');
  const put = (node, text) => {
    const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
    lines[line] += `${text.replaceAll(/```.*?```|\s*\n[ *]*|\/\*\*|\*\//gs, ' ')} `;
  };
  const visit = (node, isPublic) => {
    if (ts.isImportDeclaration(node)) return;
    for (const comment of isPublic ? (node.jsDoc ?? []) : []) put(comment, comment.getText(file));
    // A word alone is one of the program's. The marks around a text would make code of it.
    const isText = ts.isStringLiteralLike(node) && node.text.trim().includes(' ');
    const isPart = ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText || isPart) put(node, node.getText(file).replaceAll(/[`'"${}]/g, ' '));
    ts.forEachChild(node, (child) => visit(child, isPublic));
  };
  for (const statement of file.statements) {
    visit(
      statement,
      declaredNames(statement).some((name) => names.has(name)),
    );
  }
  return lines.join('\n');
}

/**
 * What each module of the package's entry points exports, by the module's path.
 *
 * @param {readonly string[]} entries
 * @param {(path: string) => Promise<string>} readSource
 * @returns {Promise<ReadonlyMap<string, ReadonlySet<string>>>}
 */
export async function publicNames(entries, readSource) {
  const found = new Map();
  const visit = async (path, isWanted) => {
    const names = found.get(path) ?? new Set();
    found.set(path, names);
    const file = ts.createSourceFile(path, await readSource(path), ts.ScriptTarget.Latest, true);
    for (const statement of file.statements) {
      for (const name of declaredNames(statement)) if (isWanted(name)) names.add(name);
      if (!ts.isExportDeclaration(statement) || statement.moduleSpecifier === undefined) continue;
      const from = join(dirname(path), statement.moduleSpecifier.text.replace(/\.js$/, '.ts'));
      const elements = statement.exportClause?.elements;
      const own = elements?.map(({ name, propertyName }) => (propertyName ?? name).text);
      await visit(from, own === undefined ? () => true : (name) => own.includes(name));
    }
  };
  for (const path of entries) await visit(path, () => true);
  return found;
}

/** The names that a statement declares. */
function declaredNames(statement) {
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.map(({ name }) => name.getText());
  }
  return statement.name === undefined ? [] : [statement.name.text];
}
