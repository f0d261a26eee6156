/** How much may be added to what lives in the heap, in percent of it, before V8 marks all of it again. */
const growingPercent = 200;

/**
 * Has V8 mark the heap less often. Some fifteen megabytes live there, and whatever is read or received counts
 * as growth until it is collected: left alone, V8 marks the heap five times a second, which is up to a fifth of
 * the processor time of a run, most of it in other threads.
 *
 * To be called when all is loaded that a run needs: V8 refuses Node's compiled code, and what was kept of
 * this command's, while an option has another value than it had when they were made.
 */
export function deferCollections(): void {
  letHeapGrow(growingPercent);
}

/** Undoes that: what is kept of the compiled code then suits the next start. */
export function restoreCollections(): void {
  letHeapGrow(0);
}

function letHeapGrow(percent: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--heap-growing-percent=${percent}`);
}
/** Bytes of its code that a function of WebAssembly runs before V8 optimizes it. */
const budget = 200_000_000;
/** What V8 itself takes, by Node's version. */
const usualBudgets = new Map([
  [20, 1_800_000],
  [22, 13_000_000],
  [24, 13_000_000],
  [26, 13_000_000],
]);

/**
 * Has V8 optimize later what is compiled of WebAssembly right after this call: the build calls it where
 * undici compiles its parser of HTTP. That is one function, so large that to optimize it takes a tenth of a
 * second of a core, and V8 would do so after five answers. A short run never wins that back; a run of
 * hundreds of answers has it optimized still.
 *
 * For a moment only: V8 refuses Node's compiled code, and what was kept of this command's, while an option
 * has another value than it had when they were made.
 */
export function deferOptimization(): void {
  const usual = usualBudgets.get(Number.parseInt(process.versions.node, 10));
  if (usual === undefined) return;
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString(`--wasm-tiering-budget=${budget}`);
  queueMicrotask(() => setFlagsFromString(`--wasm-tiering-budget=${usual}`));
}
