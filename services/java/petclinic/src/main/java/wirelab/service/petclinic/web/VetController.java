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

/** Operations on rows of kind Vet. */
@RestController
@RequestMapping(Answers.PREFIX + "vets")
final class VetController {
    private final ClinicService clinic;
    private final Messages messages;
    private final Answers answers;

    VetController(ClinicService clinic, Messages messages, Answers answers) {
        this.clinic = clinic;
        this.messages = messages;
        this.answers = answers;
    }

    @GetMapping
    ResponseEntity<Object> listVets() {
        return answers.answerFound("ListVets", () -> clinic.listVets(answers.encodeWith(messages::vets)));
    }

    @PostMapping
    ResponseEntity<Object> addVet(@RequestBody(required = false) byte[] body) {
        return answers.answerCreated("AddVet", "vets", body,
                request -> clinic.addVet(messages.vet(request), row -> answers.make(row.id, row, messages::reply)));
    }

    @GetMapping("/{id}")
    ResponseEntity<Object> getVet(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerFound("GetVet", () -> clinic.getVet(row, answers.encodeWith(messages::reply)));
    }

    @PutMapping("/{id}")
    ResponseEntity<Object> updateVet(@PathVariable String id, @RequestBody(required = false) byte[] body) {
        int row = Answers.id(id);
        return answers.answerChanged("UpdateVet", body, request -> clinic.updateVet(row, messages.vet(request)));
    }

    @DeleteMapping("/{id}")
    ResponseEntity<Object> deleteVet(@PathVariable String id) {
        int row = Answers.id(id);
        return answers.answerDeleted("DeleteVet", () -> clinic.deleteVet(row));
    }
}
