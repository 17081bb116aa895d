/**
 * The parsers that {@code wirelab parse} times, each made from its own factory: a service lookup would
 * pick another one on a class path that holds several.
 */
package wirelab.parse;
