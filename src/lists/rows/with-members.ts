/**
 * An object with some of its members replaced. It stays what it is to whoever asks for its class: sinks
 * copy the bytes of rows and headers that they know.
 */
export function withMembers<Target extends object>(
  target: Target,
  members: Partial<Target>,
): Target {
  return new Proxy(target, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name) as unknown;
      // Called on the object itself: its private fields are not the proxy's.
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
