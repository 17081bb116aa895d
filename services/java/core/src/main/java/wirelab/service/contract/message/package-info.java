/**
 * The contracts' messages as plain classes, for JSON, XML and SOAP. Their XML has no namespace of
 * its own: a JAXB context puts the contract's in its place, or leaves it at that for SOAP rpc.
 */
@XmlSchema(elementFormDefault = XmlNsForm.QUALIFIED)
package wirelab.service.contract.message;

import jakarta.xml.bind.annotation.XmlNsForm;
import jakarta.xml.bind.annotation.XmlSchema;
