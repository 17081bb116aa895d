/**
 * The contracts' messages as plain classes, for JSON, XML and SOAP. Their fields are in no namespace
 * here: a JAXB context puts the contract's in its place, or leaves it at that for SOAP rpc.
 */
@XmlSchema(elementFormDefault = XmlNsForm.QUALIFIED)
@XmlJavaTypeAdapters({
    @XmlJavaTypeAdapter(type = int.class, value = Strict.Int.class),
    @XmlJavaTypeAdapter(type = long.class, value = Strict.Whole.class),
    @XmlJavaTypeAdapter(type = boolean.class, value = Strict.Truth.class),
    @XmlJavaTypeAdapter(type = double.class, value = Strict.Real.class),
    @XmlJavaTypeAdapter(type = byte[].class, value = Strict.Bytes.class)
})
package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.XmlNsForm;
import jakarta.xml.bind.annotation.XmlSchema;
import jakarta.xml.bind.annotation.adapters.XmlJavaTypeAdapter;
import jakarta.xml.bind.annotation.adapters.XmlJavaTypeAdapters;
