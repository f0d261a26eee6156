/** Who may read a file and write to it. */
export interface FilePermissions {
  /** Its permission bits. */
  readonly mode: number;
  /** Its group, whom the bits of the group are for. */
  readonly gid: number;
}
