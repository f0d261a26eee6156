/**
 * Which upload each uuid of a run belongs to, by its name: a service that answers two uploads with one
 * uuid would have one batch launched and exported in the place of another.
 */
export class ElectedUuids {
  readonly #names = new Map<string, string>();

  /** @returns false, and nothing changes, when the uuid belongs to another upload */
  take(uuid: string, name: string): boolean {
    const key = uuid.toLowerCase();
    const owner = this.#names.get(key);
    if (owner === undefined) this.#names.set(key, name);
    return owner === undefined || owner === name;
  }

  /** The name of the upload that a uuid belongs to. */
  ownerOf(uuid: string): string | undefined {
    return this.#names.get(uuid.toLowerCase());
  }
}
