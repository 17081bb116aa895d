/** The tables of {@code petclinic} as JPA entities. Collections that a contract orders are ordered when they are written. */
package wirelab.service.petclinic.entity;
