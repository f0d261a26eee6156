// Global setup of the tests that run the built package: they must never meet an older build.
import { buildIfStale } from './dist.mjs';

export const setup = buildIfStale;
