/** How a command line is called in a test that runs none. */
export const calledHere = { argv: [], env: {}, cwd: '.' };
