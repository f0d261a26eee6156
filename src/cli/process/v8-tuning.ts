/** Growth of the live heap, in percent, before V8 marks it again. */
const growingPercent = 200;

/**
 * Makes V8 mark the heap less often. About fifteen megabytes are live, and everything read or received counts
 * as growth until it is collected: by default V8 marks the heap five times a second, up to a fifth of a run's
 * processor time, most of it in other threads.
 *
 * Call it when a run's code is loaded: V8 rejects cached code while an option differs from its value at
 * compilation.
 */
export function deferCollections(): void {
  letHeapGrow(growingPercent);
}

/** Undoes that, so that the saved compiled code suits the next start. */
export function restoreCollections(): void {
  letHeapGrow(0);
}

function letHeapGrow(percent: number): void {
  process.getBuiltinModule('node:v8').setFlagsFromString(`--heap-growing-percent=${percent}`);
}
/** Bytes of its code that a WebAssembly function runs before V8 optimizes it. */
const budget = 200_000_000;
/** V8's defaults, by Node version. */
const usualBudgets = new Map([
  [20, 1_800_000],
  [22, 13_000_000],
  [24, 13_000_000],
  [26, 13_000_000],
]);

/**
 * Delays V8's optimization of the WebAssembly compiled right after this call: the build inserts it where
 * undici compiles its HTTP parser. Optimizing that one large function takes a tenth of a second of a core,
 * and V8 would do so after five answers. A short run never recovers that; after hundreds of answers it is
 * still optimized.
 *
 * For a moment only: V8 rejects cached code while an option differs from its value at compilation.
 */
export function deferOptimization(): void {
  const usual = usualBudgets.get(Number.parseInt(process.versions.node, 10));
  if (usual === undefined) return;
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString(`--wasm-tiering-budget=${budget}`);
  queueMicrotask(() => setFlagsFromString(`--wasm-tiering-budget=${usual}`));
}
