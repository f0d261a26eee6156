export { instrument, type InstrumentOptions } from './instrument.js';
