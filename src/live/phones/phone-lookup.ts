/** What a network says of a number; what it does not say is absent. */
export interface PhoneFacts {
  /** Whether it can be reached: `active`, `inactive`, or a provider's own word; `invalid`: nobody has it. */
  readonly status?: string;
  /** Whether it was taken along to another network. */
  readonly isPorted?: boolean;
  /** Mobile country code, three digits. */
  readonly mcc?: string;
  /** Mobile network code, two or three digits. */
  readonly mnc?: string;
  readonly operator?: string;
}

/** Asks somebody about numbers that a numbering plan has. */
export interface PhoneLookup {
  /**
   * @param e164 `+` and digits
   * @returns `undefined` when nothing is known of it; rejects when nobody could tell, or with the
   *   signal's reason
   */
  lookUp(e164: string, signal: AbortSignal): Promise<PhoneFacts | undefined>;
}
