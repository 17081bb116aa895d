package wirelab.parse;

/** What a parser passes on of a document, in document order. */
interface Content {
    /** An element begins; "" stands for no namespace. */
    void start(String namespace, String name);

    /** An attribute of the element that began last; declarations of namespaces are none. */
    void attribute(String namespace, String name, String value);

    /** A part of the text between two tags. */
    void text(String part);

    /** The same, as SAX and StAX have it. */
    void text(char[] characters, int start, int length);

    /** The element that began last and is open ends. */
    void end();
}
