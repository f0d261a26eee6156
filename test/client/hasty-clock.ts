export { createFastClock as createHastyClock } from '../../src/testing/test-clock.js';
