import type { Clause } from '../clause.js';
import { section1 } from './section-1.js';
import { section2Bodies } from './section-2-bodies.js';
import { section2Forms } from './section-2-forms.js';
import { section2Parameters } from './section-2-parameters.js';
import { section3 } from './section-3.js';
import { section4 } from './section-4.js';
import { sections5To9 } from './sections-5-to-9.js';

/** Every clause of the specification (interface version 1.0.0), in its order. */
export const allClauses: readonly Clause[] = [
  ...section1,
  ...section2Bodies.filter(({ id }) => id < '2.3'),
  ...section2Parameters,
  ...section2Bodies.filter(({ id }) => id > '2.3'),
  ...section2Forms,
  ...section3,
  ...section4,
  ...sections5To9,
];
