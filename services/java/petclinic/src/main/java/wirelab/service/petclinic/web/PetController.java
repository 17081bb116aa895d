package wirelab.service.petclinic.web;

import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import wirelab.service.petclinic.ClinicService;
import wirelab.service.petclinic.message.Messages;

/** Pets, whoever owns them. */
@RestController
@RequestMapping(Answers.PREFIX + "pets")
final class PetController {
    private final ClinicService clinic;
    private final Messages messages;
    private final Answers answers;

    PetController(ClinicService clinic, Messages messages, Answers answers) {
        this.clinic = clinic;
        this.messages = messages;
        this.answers = answers;
    }

    @GetMapping
    ResponseEntity<Object> listPets() {
        return answers.answerFound("ListPets", () -> clinic.listPets(answers.encodeWith(messages::pets)));
    }

    @PostMapping
    ResponseEntity<Object> addPet(@RequestBody(required = false) byte[] body) {
        return answers.answerAdded("AddPet", body, request -> clinic.addPet(messages.pet(request), answers.encodeWith(messages::reply)));
    }

    @GetMapping("/{id}")
    ResponseEntity<Object> getPet(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerFound("GetPet", () -> clinic.getPet(row, answers.encodeWith(messages::reply)));
    }

    @PutMapping("/{id}")
    ResponseEntity<Object> updatePet(@PathVariable String id, @RequestBody(required = false) byte[] body) {
        int row = Answers.id(id);
        return answers.answerChanged("UpdatePet", body, request -> clinic.updatePet(row, messages.pet(request)));
    }

    @DeleteMapping("/{id}")
    ResponseEntity<Object> deletePet(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerDeleted("DeletePet", () -> clinic.deletePet(row));
    }
}
