import { randomBytes } from 'node:crypto';

/** A name that nothing else on the server has. */
export function newName(): string {
  return `t_${randomBytes(6).toString('hex')}`;
}
