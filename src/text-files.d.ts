/** A data file: the bundler inlines it as text, and Vitest loads it by scripts/tests/compiled-sources.mjs. */
declare module '*.txt' {
  const text: string;
  export default text;
}

declare module '*.sql' {
  const text: string;
  export default text;
}
