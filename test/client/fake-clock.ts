export { TestClock as FakeClock } from '../../src/testing/test-clock.js';
