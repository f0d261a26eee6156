/**
 * Node's own module, without `import`: for that, Node 22 and newer load all of fetch with it, which takes as
 * long as Node's own start.
 */
export const { createServer, STATUS_CODES } = process.getBuiltinModule('node:http');
