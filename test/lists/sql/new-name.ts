let names = 0;

/** A name that nothing else on the tests' servers has. */
export function newName(): string {
  names += 1;
  return `t_${process.pid}_${names}`;
}
