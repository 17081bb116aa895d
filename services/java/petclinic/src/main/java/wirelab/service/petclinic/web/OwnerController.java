package wirelab.service.petclinic.web;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import wirelab.service.petclinic.ClinicService;
import wirelab.service.petclinic.message.Messages;

/** Owners, and through them their pets and visits. */
@RestController
@RequestMapping(Answers.PREFIX + "owners")
final class OwnerController {
    private final ClinicService clinic;
    private final Messages messages;
    private final Answers answers;

    OwnerController(ClinicService clinic, Messages messages, Answers answers) {
        this.clinic = clinic;
        this.messages = messages;
        this.answers = answers;
    }

    @GetMapping
    ResponseEntity<Object> listOwners(@RequestParam(defaultValue = "") String lastName) {
        String beginning = Answers.text(lastName);
        return answers.answerFound("ListOwners", () -> clinic.listOwners(beginning, answers.encodeWith(messages::owners)));
    }

    @PostMapping
    ResponseEntity<Object> addOwner(@RequestBody(required = false) byte[] body) {
        return answers.answerCreated("AddOwner", "owners", body,
                request -> clinic.addOwner(messages.owner(request), row -> answers.make(row.id, row, messages::reply)));
    }

    @GetMapping("/{id}")
    ResponseEntity<Object> getOwner(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerFound("GetOwner", () -> clinic.getOwner(row, answers.encodeWith(messages::reply)));
    }

    @PutMapping("/{id}")
    ResponseEntity<Object> updateOwner(@PathVariable String id, @RequestBody(required = false) byte[] body) {
        int row = Answers.id(id);
        return answers.answerChanged("UpdateOwner", body, request -> clinic.updateOwner(row, messages.owner(request)));
    }

    @DeleteMapping("/{id}")
    ResponseEntity<Object> deleteOwner(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerDeleted("DeleteOwner", () -> clinic.deleteOwner(row));
    }

    @PostMapping("/{ownerId}/pets")
    ResponseEntity<Object> addPetToOwner(@PathVariable String ownerId, @RequestBody(required = false) byte[] body) {
        int owner = Answers.id(ownerId);
        return answers.answerCreated("AddPetToOwner", "pets", body, request ->
                clinic.addPetToOwner(owner, messages.pet(request), row -> answers.make(row.id, row, messages::reply)));
    }

    @GetMapping("/{ownerId}/pets/{petId}")
    ResponseEntity<Object> getOwnersPet(@PathVariable String ownerId, @PathVariable String petId) {
        int owner = Answers.id(ownerId);
        int pet = Answers.id(petId);
        return answers.answerFound("GetOwnersPet", () -> clinic.getOwnersPet(owner, pet, answers.encodeWith(messages::reply)));
    }

    @PostMapping("/{ownerId}/pets/{petId}/visits")
    ResponseEntity<Object> addVisitToOwner(
            @PathVariable String ownerId, @PathVariable String petId, @RequestBody(required = false) byte[] body) {
        int owner = Answers.id(ownerId);
        int pet = Answers.id(petId);
        return answers.answerCreated("AddVisitToOwner", "visits", body, request -> clinic.addVisitToOwner(
                owner, pet, messages.visit(request), row -> answers.make(row.id, row, messages::reply)));
    }
}
