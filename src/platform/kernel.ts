interface Engine {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
}

export interface KernelMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const modules = new Map<string, object>();

/**
 * Starts a kernel, a WebAssembly module, with a memory of its own.
 *
 * @param base64 the module, from `npm run kernel`
 *
 * @returns its exports
 */
export function startKernel(base64: string): unknown {
  const { Module, Instance } = Reflect.get(globalThis, 'WebAssembly') as Engine;
  const module = modules.get(base64) ?? new Module(Buffer.from(base64, 'base64'));
  modules.set(base64, module);
  return new Instance(module).exports;
}
