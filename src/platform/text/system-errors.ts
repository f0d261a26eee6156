const words = new Map([
  ['ENOENT', 'file or folder not found'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EISDIR', 'it is a folder'],
  ['ENOTDIR', 'a part of its path is not a folder'],
  ['ELOOP', 'its links lead in a circle'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'no space is left on the device'],
  ['EDQUOT', 'the disk quota is used up'],
  ['EFBIG', 'it would grow larger than a file may be'],
  ['EIO', 'the device failed'],
  ['ENXIO', 'it is a socket, or nothing is at the other end (- is standard input or output)'],
  ['EPIPE', 'its reader has closed it'],
  ['ERR_STREAM_PREMATURE_CLOSE', 'it closed before its end'],
  ['ERR_STREAM_DESTROYED', 'it was closed'],
  ['ERR_STREAM_WRITE_AFTER_END', 'it was ended'],
]);

/** Describes why the system or a stream refused, as the second half of a message. */
export function describeSystemError(error: unknown): string {
  const code = systemErrorCode(error);
  if (code === undefined) return error instanceof Error ? error.message : 'an unexpected error';
  return words.get(code) ?? code;
}

export function systemErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
