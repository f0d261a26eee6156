/** The page that says what the clauses hold a service to, from the root of the package. */
const page = 'docs/service-interface.md';

/** The anchors of its sections, by their numbers. */
const anchors: Readonly<Record<string, string>> = {
  '1': '1-what-the-service-does',
  '2.1': '21-credit-balance',
  '2.2': '22-batch-summary',
  '2.3': '23-batch-parameters',
  '2.4': '24-enumerations',
  '2.5': '25-batch-status-answer',
  '2.6': '26-batch-details',
  '2.7': '27-result-records',
  '2.8': '28-costs-and-counts',
  '2.9': '29-forms-and-other-answers',
  '3': '3-states-of-a-batch',
  '4': '4-operations',
  '5': '5-authentication',
  '6': '6-events',
  '7': '7-errors',
  '8': '8-limits',
  '9': '9-versions',
};

/**
 * The section that a clause is of: its number is the section's, or, as `5.3`, that of a point in a list
 * of the section.
 */
export function sectionOf(clause: string): string {
  const [number = '', whole = ''] = /^(\d)(?:\.\d+)?/.exec(clause) ?? [];
  const anchor = anchors[number] ?? anchors[whole];
  if (anchor === undefined) throw new Error(`the specification has no section of clause ${clause}`);
  return `${page}#${anchor}`;
}
