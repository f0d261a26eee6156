// The load generator has no types of its own: what the benchmark uses of it.
declare module 'autocannon' {
  interface Load {
    readonly requests: { readonly total: number; readonly average: number };
    readonly latency: { readonly p50: number; readonly p99: number; readonly max: number };
    readonly errors: number;
    readonly timeouts: number;
    readonly non2xx: number;
  }
  function autocannon(options: Readonly<Record<string, unknown>>): Promise<Load>;
  export = autocannon;
}
