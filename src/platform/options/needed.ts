/**
 * Asks for a choice between options only where those that are given make none of its choices. Where they do, an
 * editor shows the text of each option, which it cannot of one that is in several members of a union.
 *
 * @template Given the options of the call
 * @template Choice the union of what may be given
 */
export type Needed<Given, Choice> = [Given] extends [Choice]
  ? unknown
  : [Given] extends [never]
    ? Given
    : Choice;
